import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from '../src/client/index.ts'

export interface Counted {
  /** Sent to Postgres since the start. */
  readonly statements: number
  /** Bytes. */
  readonly rss: number
}
export interface BenchServer extends AsyncDisposable {
  readonly client: Client
  read(): Promise<Counted>
}

/** A server of its own with an embedded Postgres (fsync on) and the built-in mock deployer, in processes of their own. */
export async function startServer(): Promise<BenchServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'phaseline-bench-'))
  const port = await freePort()
  const token = randomBytes(24).toString('base64url')
  const child = fork(join(import.meta.dirname, 'counted-server.ts'), {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: String(port),
      PHASELINE_DATA: dataDir,
      PHASELINE_TOKEN: token,
      PHASELINE_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const origin = `http://127.0.0.1:${port}`
  while (!(await fetch(`${origin}/readyz`).catch(() => null))?.ok) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    await delay(20)
  }
  const client = createClient({ url: `${origin}/graphql`, token, timeoutMs: 300_000 })
  return {
    client,
    async read() {
      child.send('read')
      const [counted] = await once(child, 'message')
      return counted as Counted
    },
    async [Symbol.asyncDispose]() {
      await client.close()
      child.kill('SIGTERM')
      await once(child, 'exit')
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
