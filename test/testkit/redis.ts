import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { inject } from 'vitest'
import { until } from './wait.ts'

/** The run's own Redis. */
export const redisUrl = (): string => inject('redis')

export interface TestRedis extends AsyncDisposable {
  readonly url: string
  /** Kills it and starts it again on the same port, with nothing kept. */
  restart(): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
}

const HINT = 'The tests need a redis-server. Install one, e.g.: sudo apt-get install -y redis-server'

/** Below those that the system gives to connections, any of which could take a port between its choice and its use. */
const PORTS = { from: 12_000, to: 32_000 }
/** Other workers of this run begin elsewhere, and so does another run. */
let nextPort = PORTS.from + ((process.pid * 131) % (PORTS.to - PORTS.from))

/** A port for a server that is started, and perhaps restarted. A process gets each port once. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort
    nextPort = port + 1 < PORTS.to ? port + 1 : PORTS.from
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const listening = new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (!(await listening)) return false
  await new Promise((resolve) => server.close(resolve))
  return true
}

/** A redis-server that ends when the pipe to this process does, so that a run that is killed leaves none behind. */
const GUARDED = '(cat <&3 >/dev/null; kill $$) & exec redis-server "$@" 3<&-'

/** A Redis that a test may kill. */
export async function startRedis(): Promise<TestRedis> {
  if (spawnSync('redis-server', ['--version']).status !== 0) throw new Error(HINT)
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  let child = launch()

  function launch() {
    const started = spawn('sh', ['-c', GUARDED, 'sh', ...args], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
    started.once('exit', () => started.stdio[3]?.destroy())
    return started
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  async function start(): Promise<void> {
    child = launch()
    await answering(url)
  }
  await answering(url)
  return {
    url,
    kill,
    start,
    async restart() {
      await kill()
      await start()
    },
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function answering(url: string): Promise<void> {
  await until(
    async () => {
      const client = createClient({ url, socket: { reconnectStrategy: false } })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.ping()
        return true
      } catch {
        return false
      } finally {
        client.destroy()
      }
    },
    { what: 'redis-server answers' },
  )
}
