import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { freePort } from '../redis.ts'

export interface MortalRedis extends AsyncDisposable {
  readonly url: string
  /** kill -9. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** A Redis of the storm's own, since it dies. */
export async function startMortalRedis(): Promise<MortalRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-bench-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const launch = () =>
    spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder], {
      stdio: 'ignore',
    })
  let child = launch()
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await answering(url)
  return {
    url,
    kill,
    async start() {
      child = launch()
      await answering(url)
    },
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function answering(url: string): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: (attempts) => (attempts < 100 ? 50 : false) } })
  client.on('error', () => undefined)
  await client.connect()
  client.destroy()
}
