import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as DriverClient, type Pool, type PoolClient } from 'pg'
import type { Connection } from '../store/pool.ts'
import { libpqEnvironment, passLine } from './libpq.ts'
import type { Tool } from './tools.ts'

/** The database of a backup or a restore. */
export interface BackupDatabase {
  readonly connection: Connection
  readonly pool: Pool
  /** The environment of the process, for finding programs and their settings. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A connection that may rest while a program of Postgres works. */
export async function withSession<T>({ pool }: BackupDatabase, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  // A server that goes away meanwhile ends the connection: the next statement fails by itself.
  client.on('error', () => undefined)
  try {
    await client.query('set idle_in_transaction_session_timeout = 0')
    return await work(client)
  } finally {
    // Its transaction and its locks go with it.
    client.release(true)
  }
}

interface ToolEnvironment extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}
/** The environment of a program that is to reach this database, with the file of the password, which goes with it. */
export async function openEnvironment({ connection, env }: BackupDatabase, { major }: Tool): Promise<ToolEnvironment> {
  await using files = new AsyncDisposableStack()
  // It does not connect: it only parses the URL and the variables that the driver reads.
  const resolved = new DriverClient(connection)
  const { password } = resolved
  let passFile: string | undefined
  if (typeof password === 'string' && password !== '') {
    const folder = files.adopt(await mkdtemp(join(tmpdir(), 'phaseline-backup-')), (path) =>
      rm(path, { recursive: true }),
    )
    passFile = join(folder, 'pgpass')
    await writeFile(passFile, passLine(password), { mode: 0o600, flag: 'wx' })
  }
  const all = files.move()
  return {
    env: libpqEnvironment({ connection, resolved, env, passFile, major }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
