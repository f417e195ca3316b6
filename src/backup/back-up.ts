import { randomUUID } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { PoolClient } from 'pg'
import { openBackupFile, writeBackupFile } from './backup-file.ts'
import { BackupProblem } from './backup-problem.ts'
import { findDatabase, readContents, SCHEMA } from './contents.ts'
import { type BackupDatabase, openEnvironment, withSession } from './database.ts'
import { CONNINFO } from './libpq.ts'
import type { Manifest } from './manifest.ts'
import { findTool, runTool, type Tool } from './tools.ts'

export interface BackUpOptions {
  readonly file: string
  /** The folder of pg_dump; undefined: it is searched for. */
  readonly tools: string | undefined
  /** This program's version. */
  readonly version: string
  readonly signal: AbortSignal
}
export interface BackedUp {
  readonly manifest: Manifest
  readonly bytes: number
}

/** A migration has a table for itself for a moment only. Milliseconds. */
const LOCK_WAIT_MS = 35_000

/**
 * Writes what the database holds at one moment into a new file, while servers work on. The file has its name once it is
 * complete and was read again.
 * @throws BackupProblem
 */
export async function backUp(
  database: BackupDatabase,
  { file, tools, version, signal }: BackUpOptions,
): Promise<BackedUp> {
  if (await stat(file).catch(() => null))
    throw new BackupProblem('REFUSED', `${file} exists, and no backup is written over another: name a new file.`)
  return await withSession(database, async (client) => {
    const { name, postgres, isOurs } = await findDatabase(client)
    if (!isOurs)
      throw new BackupProblem('REFUSED', `The database ${name} is not one of Phaseline: it lacks the tables.`)
    const { env } = database
    const tool = await findTool('pg_dump', { server: postgres, folder: tools, path: env.PATH })
    const snapshot = await exportSnapshot(client)
    const made = { version, madeAt: new Date().toISOString(), postgres, tool: tool.major }
    const manifest: Manifest = { ...made, ...(await readContents(client)) }
    const part = `${file}.${randomUUID()}.part`
    try {
      await writePart(part, manifest, { database, tool, snapshot, signal })
      await using written = await openBackupFile(part)
      await rename(part, file)
      await syncFolder(dirname(file))
      return { manifest, bytes: written.bytes }
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  })
}

/** Begins a transaction; pg_dump reads with its snapshot, as long as it is open. */
async function exportSnapshot(client: PoolClient): Promise<string> {
  await client.query('begin isolation level repeatable read read only')
  const { rows } = await client.query<{ id: string }>('select pg_export_snapshot() as id')
  const id = rows[0]?.id
  if (id === undefined) throw new Error('Postgres exports no snapshot.')
  return id
}

interface Part {
  readonly database: BackupDatabase
  readonly tool: Tool
  readonly snapshot: string
  readonly signal: AbortSignal
}

/** Readable for its owner alone: it has all data of the API, and the digests of tokens. */
async function writePart(path: string, manifest: Manifest, { database, tool, snapshot, signal }: Part): Promise<void> {
  const args = [
    ...['--format=custom', `--schema=${SCHEMA}`, '--no-owner', '--no-privileges', '--no-password'],
    ...[`--snapshot=${snapshot}`, `--lock-wait-timeout=${LOCK_WAIT_MS}`, `--dbname=${CONNINFO}`],
  ]
  await using environment = await openEnvironment(database, tool)
  await using file = await open(path, 'wx', 0o600)
  await writeBackupFile(file, manifest, (output) => runTool(tool, { args, env: environment.env, signal, output }))
}

/** So that the name is there after a crash of the machine, too. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder)
  await handle.sync()
}
