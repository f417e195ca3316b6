import { setTimeout as delay } from 'node:timers/promises'
import { afterRunning } from '../store/running-time.ts'
import { GOODBYE_MS, ServerClient } from '../store/server-client.ts'
import type { DatabaseServers } from '../store/servers.ts'
import { Unanswered, unavailableOf } from '../store/unavailable.ts'
import { StartProblem } from './start-problem.ts'

/** A setting of our own that Postgres shows again, if what is sent at the start of a connection reaches it. */
const SENT = 'phaseline.sent'
const SEEN = `select pg_backend_pid() as pid, current_setting('${SENT}', true) as sent`
/** Others may take the connection in between, so one pair alone proves little. */
const PAIRS = 3

interface Checked {
  readonly servers: DatabaseServers
  readonly connectTimeoutMs: number
}

/**
 * Finds out whether a pooler stands between here and Postgres. It drops the settings that we send at the start of a connection, so
 * from then on each session gets them in a statement.
 * @throws StartProblem when it does not give each connection a session of its own, or DatabaseUnavailable
 */
export async function checkPooler(checked: Checked): Promise<void> {
  const { servers } = checked
  try {
    servers.isPooled ||= !(await isDirect(checked))
    if (!servers.isPooled) return
    for (let pair = 0; pair < PAIRS; pair++) if (await isShared(checked)) throw new StartProblem(NO_SESSIONS)
  } catch (error) {
    throw unavailableOf(error) ?? error
  }
}

async function isDirect(checked: Checked): Promise<boolean> {
  try {
    await using opened = await open(checked, `-c ${SENT}=yes`)
    const { client } = opened
    const { rows } = await client.query<{ pid: number; sent: string | null }>(SEEN)
    return rows[0]?.pid === client.backendPid && rows[0]?.sent === 'yes'
  } catch (error) {
    // It refuses them.
    if (checked.servers.isPooled) return false
    throw error
  }
}

/** Two connections that rest have one backend: it is given to each for a transaction only. */
async function isShared(checked: Checked): Promise<boolean> {
  await using one = await open(checked)
  await using other = await open(checked)
  return one.client.backendPid === other.client.backendPid
}

interface Opened extends AsyncDisposable {
  readonly client: ServerClient
}

async function open(checked: Checked, options = ''): Promise<Opened> {
  const { connectTimeoutMs } = checked
  const client = new ServerClient({ application_name: 'phaseline', options }, checked)
  // Over all of it: a pooler may let a connection wait for a session that is free.
  const late = afterRunning(connectTimeoutMs, () =>
    client.destroy(new Unanswered(`no session in ${connectTimeoutMs} ms`)),
  )
  const close = async (): Promise<void> => {
    late[Symbol.dispose]()
    await Promise.race([client.end(), delay(GOODBYE_MS)])
    client.destroy()
  }
  await client.connect().catch(async (error) => {
    await close()
    throw error
  })
  return { client, [Symbol.asyncDispose]: close }
}

const NO_SESSIONS =
  'DATABASE_URL leads to a pooler that gives a connection to Postgres for each transaction, and the server needs sessions, for its settings, its prepared statements and its locks: set pool_mode=session for this database (PgBouncer), or name Postgres itself.'
