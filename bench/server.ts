import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, createClient } from '../src/client/index.ts'
import { THIS_CHECKOUT } from './checkout.ts'
import { forkModule } from './processes.ts'
import { freePort } from './redis.ts'

/** Counts the server's process alone, without its agents, its sandbox and Postgres. */
export interface Reading {
  /** Statements sent to Postgres since the start. */
  readonly statements: number
  /** Bytes. */
  readonly rss: number
  /** Bytes, the most since the reading before. */
  readonly rssPeak: number
  readonly heapPeak: number
  /** Milliseconds since the start, user and system. */
  readonly cpuMs: number
}
export interface ServerOptions {
  /** The folder of the checkout whose server and client these are; absent: this one. */
  readonly checkout?: string
  /** Absent: an embedded Postgres of its own. */
  readonly databaseUrl?: string
  readonly redisUrl?: string
  /** The administrator's; absent: one of its own. */
  readonly token?: string
  /** Absent: all. */
  readonly roles?: readonly ('gateway' | 'engine' | 'agents')[]
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>
  /** As `phaseline serve`, without what counts its statements and memory: `read` cannot be called. */
  readonly isUncounted?: boolean
}
export interface BenchServer extends AsyncDisposable {
  /** e.g. http://127.0.0.1:4000 */
  readonly origin: string
  /** The administrator's. */
  readonly token: string
  readonly pid: number
  readonly client: Client
  read(): Promise<Reading>
}

/** The server as users run it, in a process of its own. */
export async function startServer({
  checkout = THIS_CHECKOUT,
  databaseUrl,
  redisUrl,
  token = randomBytes(24).toString('base64url'),
  roles,
  env,
  isUncounted = false,
}: ServerOptions = {}): Promise<BenchServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'phaseline-bench-'))
  const port = await freePort()
  const file = join(checkout, isUncounted ? 'src/cli/main.ts' : 'bench/counted-server.ts')
  const options = {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: 'production',
      PORT: String(port),
      PHASELINE_DATA: dataDir,
      PHASELINE_TOKEN: token,
      PHASELINE_LOG_LEVEL: 'error',
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
      ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
      ...(roles ? { PHASELINE_ROLES: roles.join(',') } : {}),
      // Others listen for operators only.
      ...(roles && !roles.includes('gateway') ? { PHASELINE_ADMIN_PORT: String(port) } : {}),
      ...env,
    },
  }
  const { child, ended } = forkModule(file, options, isUncounted ? ['serve', '--no-example'] : [])
  const origin = `http://127.0.0.1:${port}`
  while (!(await fetch(`${origin}/readyz`).catch(() => null))?.ok) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    await delay(20)
  }
  const client = (await clientOf(checkout)).createClient({ url: `${origin}/graphql`, token, timeoutMs: 300_000 })
  return {
    origin,
    token,
    pid: child.pid ?? 0,
    client,
    async read() {
      const answer = once(child, 'message')
      child.send('read')
      return (await answer)[0] as Reading
    },
    async [Symbol.asyncDispose]() {
      await client.close()
      child.kill('SIGTERM')
      await ended
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const clientOf = (checkout: string): Promise<{ createClient: typeof createClient }> =>
  import(join(checkout, 'src/client/index.ts'))
