import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '../../src/client/index.ts'
import type { Machine } from './network.ts'
import { createTestDatabase } from './postgres.ts'
import { freePort } from './redis.ts'
import { rulesHold } from './rules-hold.ts'
import { type ClockOptions, shiftClock } from './shifted-clock.ts'
import { until } from './wait.ts'

const PRODUCT = join(import.meta.dirname, '../../src/cli/main.ts')

/** A server as its clients see it. */
export interface ReachableServer extends AsyncDisposable {
  readonly url: string
  readonly origin: string
  /** The administrator's. */
  readonly token: string
  readonly client: Client
  /** Its output so far. */
  output(): string
}

/** The real server in a process of its own, on an embedded Postgres of its own with real fsync, that a test may kill. */
export interface TestServer extends ReachableServer {
  readonly port: number
  /** kill -9, of the server alone: its Postgres lives on, as it would. */
  kill(): Promise<void>
  /** Suspends the process, as if with its machine; its clients get no answer. Returns a function that resumes it. */
  freeze(): () => void
  /** Stops with SIGTERM. */
  stop(): Promise<number | null>
  start(): Promise<void>
  /** Sets its clock, as somebody may do at any time; only of a server that was given one. */
  setClock(offset: string): void
}

export interface ServerOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly example?: boolean
  readonly token?: string
  /** The source of the token: the environment, or an earlier run's file in the data folder. */
  readonly tokenIn?: 'environment' | 'data folder'
  /** Gives the server a wrong clock of its own. Needs a `DATABASE_URL`: an embedded Postgres would have the same clock. */
  readonly clock?: ClockOptions
  /** Replaces the product's command, e.g. by one with more families; evaluated at each start. */
  readonly program?: string | (() => string)
  /** The machine that runs it, if not this one; its port is 4000 there. */
  readonly machine?: Machine
}

export async function startServer({
  env = {},
  example = false,
  token = randomBytes(24).toString('base64url'),
  tokenIn = 'environment',
  clock,
  program = PRODUCT,
  machine,
}: ServerOptions = {}): Promise<TestServer> {
  if (clock && !env.DATABASE_URL) throw new Error('a server with a clock of its own needs a database that has not')
  const dataDir = await mkdtemp(join(tmpdir(), 'phaseline-server-'))
  if (tokenIn === 'data folder') await writeFile(join(dataDir, 'token'), `${token}\n`, { mode: 0o600 })
  const shifted = clock && shiftClock(join(dataDir, 'clock'), clock)
  const { address, enter } = machine ?? { address: '127.0.0.1', enter: [] }
  const port = machine ? 4_000 : await freePort()
  const origin = `http://${address}:${port}`
  const url = `${origin}/graphql`
  const client = createClient({ url, token })
  let child: ChildProcess | null = null
  let output = ''

  const start = async (): Promise<void> => {
    const args = [typeof program === 'string' ? program : program(), 'serve', ...(example ? [] : ['--no-example'])]
    const [command = '', ...rest] = [...enter, process.execPath, ...args]
    const started = spawn(command, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        PORT: String(port),
        HOST: address,
        PHASELINE_DATA: dataDir,
        PHASELINE_TOKEN: tokenIn === 'environment' ? token : '',
        PHASELINE_LOG_LEVEL: 'warn',
        NO_COLOR: '1',
        // A process more for each server: for those that need it.
        PHASELINE_PROCESS_RUNTIME: 'off',
        ...shifted?.env,
        ...env,
      },
    })
    child = started
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    await until(
      async () => {
        if (started.exitCode !== null) throw new Error(`the server ended with ${started.exitCode}:\n${output}`)
        return (await fetch(`${origin}/readyz`).catch(() => null))?.ok
      },
      { what: 'the server is ready' },
    ).catch((error: unknown) => {
      started.kill('SIGKILL')
      throw error
    })
  }
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = child
    child = null
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return ending?.exitCode ?? null
    const ended = new Promise<number | null>((resolve) => ending.once('exit', resolve))
    ending.kill(signal)
    return ended
  }

  await start()
  return {
    port,
    url,
    origin,
    token,
    client,
    output: () => output,
    start,
    kill: async () => void (await end('SIGKILL')),
    freeze() {
      const frozen = child
      frozen?.kill('SIGSTOP')
      return () => void frozen?.kill('SIGCONT')
    },
    stop: () => end('SIGTERM'),
    setClock(offset) {
      if (!shifted) throw new Error('this server has the clock of its machine')
      shifted.set(offset)
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      // A server that was killed leaves its own Postgres behind: the next one takes it along.
      if (!child && !env.DATABASE_URL) await start()
      await end('SIGTERM')
      await rm(dataDir, { recursive: true, force: true })
      rulesHold(output)
    },
  }
}

/** For servers that are given a database. */
export const SECRET_KEY = Buffer.alloc(32, 'k').toString('base64')

export interface SharedServerOptions extends ServerOptions {
  /** Another process on the same database, a gateway and an engine beside it all the time, whose clock is wrong. */
  readonly secondary?: ClockOptions
}

/** The same on a database of the run's Postgres: starts faster, for tests that are not about what an embedded one survives. */
export async function startSharedServer({ env, secondary, ...options }: SharedServerOptions = {}): Promise<TestServer> {
  await using starting = new AsyncDisposableStack()
  const { url: DATABASE_URL } = starting.use(await createTestDatabase(1))
  const given = { DATABASE_URL, PHASELINE_SECRET_KEY: SECRET_KEY, ...env }
  const server = starting.use(await startServer({ ...options, env: given }))
  if (secondary) {
    const skewed = { ...given, PHASELINE_ROLES: 'gateway,engine' }
    starting.use(await startServer({ env: skewed, token: server.token, clock: secondary }))
  }
  const all = starting.move()
  return { ...server, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
