import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'

export interface RedisOptions {
  /** The append-only file: none, synced each second, or synced before each answer. */
  readonly aof: 'no' | 'everysec' | 'always'
}
export interface BenchRedis extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

/** A redis-server that ends when the pipe to this process does, so that a run that is killed leaves none behind. */
const GUARDED = '(cat <&3 >/dev/null; kill $$ 2>/dev/null) & exec redis-server "$@" 3<&-'

/** A Redis of its own on a free port, without snapshots. */
export async function startRedis({ aof }: RedisOptions): Promise<BenchRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-bench-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '']
  const durability = aof === 'no' ? ['--appendonly', 'no'] : ['--appendonly', 'yes', '--appendfsync', aof]
  const child = spawn('sh', ['-c', GUARDED, 'sh', ...args, '--maxmemory-policy', 'noeviction', ...durability], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    // Ctrl-C reaches this process first.
    detached: true,
  })
  const ended = once(child, 'exit').then(() => child.stdio[3]?.destroy())
  await answering(url)
  return {
    url,
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function answering(url: string): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: (attempts) => (attempts < 100 ? 50 : false) } })
  // Refused until it is up; after the last attempt `connect` rejects.
  client.on('error', () => {})
  await client.connect()
  client.destroy()
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
