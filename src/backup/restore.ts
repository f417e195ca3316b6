import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, type PoolClient } from 'pg'
import { forkLog, type LogIdentity, openLog } from '../log/identity.ts'
import { type HoldRow, holdRestored } from '../store/holds.ts'
import { MIGRATION_LOCK } from '../store/migrate.ts'
import { type OpenBackup, openBackupFile } from './backup-file.ts'
import { BackupProblem } from './backup-problem.ts'
import { findDatabase, readContents, SCHEMA } from './contents.ts'
import { type BackupDatabase, openEnvironment, withSession } from './database.ts'
import { CONNINFO } from './libpq.ts'
import { findDifference, judgeSchema, type Manifest } from './manifest.ts'
import { ASIDE, bringBack, dropReplaced, putAside, requireRoom } from './replaced-schema.ts'
import { findTool, runTool, type Tool } from './tools.ts'

export interface RestoreOptions {
  /** Into a database of Phaseline that is not empty. */
  readonly replace: boolean
  /** Although others are connected to the database. */
  readonly whileInUse: boolean
  /** Automation is not held: the database replaces the one that was backed up. */
  readonly keepAutomation: boolean
  /** The folder of pg_restore; undefined: it is searched for. */
  readonly tools: string | undefined
  readonly signal: AbortSignal
}
export interface Restored {
  readonly manifest: Manifest
  /** The epoch of the log, which begins with the restore. */
  readonly epoch: number
  /** Nothing happens by itself until somebody releases it. */
  readonly isHeld: boolean
}

/**
 * Reads a backup whole and judges it, before any database is touched.
 * @param known the migrations of this program
 * @throws BackupProblem
 */
export async function openFitting(file: string, known: readonly string[]): Promise<OpenBackup> {
  await using opened = new AsyncDisposableStack()
  const backup = opened.use(await openBackupFile(file))
  const problem = judgeSchema(known, backup.manifest)
  if (problem) throw new BackupProblem('REFUSED', `This version cannot work with what ${file} holds: ${problem}.`)
  opened.move()
  return backup
}

/**
 * Makes the database what it was. A database that is replaced is as before if this fails.
 * @throws BackupProblem
 */
export async function restore(
  database: BackupDatabase,
  backup: OpenBackup,
  { replace, whileInUse, keepAutomation, tools, signal }: RestoreOptions,
): Promise<Restored> {
  const { manifest } = backup
  return await withSession(database, async (client) => {
    const target = await findDatabase(client)
    if (target.postgres < manifest.postgres)
      throw new BackupProblem(
        'REFUSED',
        `The backup is of Postgres ${manifest.postgres}, and this server is ${target.postgres}: restore into ${manifest.postgres} or newer.`,
      )
    await lockOut(client, target.name)
    if (!whileInUse) await requireUnused(client, target.name, signal)
    const isReplaced = await requireRoom(client, target, replace)
    const needs = { server: target.postgres, archive: manifest.tool }
    const tool = await findTool('pg_restore', { ...needs, folder: tools, path: database.env.PATH })
    signal.throwIfAborted()
    if (isReplaced) await putAside(client)
    let identity: LogIdentity
    let isHeld = false
    try {
      await runRestore(database, backup, tool, signal)
      await compare(client, manifest)
      identity = await beginEpoch(client, manifest)
      // A copy beside the original must neither deploy nor notify.
      if (!keepAutomation) isHeld = await holdRestored(client, holdOf(manifest))
    } catch (error) {
      await undo(client, isReplaced, error)
      throw error
    }
    if (isReplaced) await dropAside(client)
    return { manifest, epoch: identity.epoch, isHeld }
  })
}

/** A server that starts meanwhile waits: it takes this lock before it reads the database. */
async function lockOut(client: PoolClient, name: string): Promise<void> {
  const { rows } = await client.query<{ ok: boolean }>('select pg_try_advisory_lock($1) as ok', [MIGRATION_LOCK])
  if (!rows[0]?.ok)
    throw new BackupProblem('REFUSED', `Another process migrates or restores ${name}: wait for it, and try again.`)
}

/** Postgres shows connections of a server that has just ended for a moment. */
const ENDED_MS = 2_000
const LOOK_MS = 100
const MAX_NAMES = 5
const SESSIONS = `
  select count(*) as n, (array_agg(distinct coalesce(nullif(application_name, ''), usename::text)))[1:${MAX_NAMES}] as names
  from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null
    and coalesce(backend_type, 'client backend') = 'client backend'`

async function requireUnused(client: PoolClient, name: string, signal: AbortSignal): Promise<void> {
  for (const since = performance.now(); ; await delay(LOOK_MS, undefined, { signal })) {
    const { rows } = await client.query<{ n: number; names: string[] | null }>(SESSIONS)
    const { n = 0, names } = rows[0] ?? {}
    if (n === 0) return
    if (performance.now() - since < ENDED_MS) continue
    throw new BackupProblem(
      'REFUSED',
      `The database ${name} is in use by ${n} connections (${names?.join(', ')}): stop the servers and end what else is connected, or add --while-in-use.`,
    )
  }
}

async function runRestore(
  database: BackupDatabase,
  backup: OpenBackup,
  tool: Tool,
  signal: AbortSignal,
): Promise<void> {
  const args = [
    ...['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges', '--no-tablespaces'],
    // Not the schema itself, which is there.
    ...[`--schema=${SCHEMA}`, '--no-password', `--dbname=${CONNINFO}`],
  ]
  await using environment = await openEnvironment(database, tool)
  await runTool(tool, { args, env: environment.env, signal, input: backup.archive() })
}

async function compare(client: PoolClient, manifest: Manifest): Promise<void> {
  const difference = findDifference(manifest, await readContents(client))
  if (difference)
    throw new BackupProblem(
      'FAILED',
      `The restored database differs from the backup: ${difference}. Restore while nothing else is connected.`,
    )
}

const holdOf = ({ madeAt }: Manifest): HoldRow => ({
  ...{ id: randomUUID(), projectId: null, by: 'restore', at: new Date() },
  reason: `Restored from the backup of ${madeAt}.`,
})

/** Most databases have another name; one with the same name by chance gets another identity. */
async function beginEpoch(client: PoolClient, { log }: Manifest): Promise<LogIdentity> {
  const identity = await openLog(client)
  return identity.epoch > log.epoch ? identity : await forkLog(client, identity, log.head)
}

/** The database that is replaced is what it was. One that was empty is empty, unless what was restored is wrong. */
async function undo(client: PoolClient, isReplaced: boolean, cause: unknown): Promise<void> {
  try {
    if (isReplaced) await bringBack(client)
    else if ((await findDatabase(client)).isOurs) throw new Error('it is complete, and must not be used')
  } catch (error) {
    const now = isReplaced
      ? `what was there before is in the schema ${ASIDE}`
      : `drop what was restored, or replace it with --replace`
    throw new BackupProblem('FAILED', `${messageOf(cause)} It could not be undone (${messageOf(error)}): ${now}.`, {
      cause,
    })
  }
}

async function dropAside(client: PoolClient): Promise<void> {
  try {
    await dropReplaced(client)
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    throw new BackupProblem(
      'FAILED',
      `The backup is restored, and what was there before could not be removed: ${error.message}. Drop the schema ${ASIDE}.`,
      { cause: error },
    )
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
