import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Queue, Worker } from 'bullmq'
import { atOnce } from '../at-once.ts'
import { type Peer, type PeerOptions, servePeer } from '../harness-peer.ts'

/** A queue whose worker spawns the same process that our runtime starts. */

const QUEUE = 'events'
/** No more are made at the same time. */
const CONCURRENCY = 64

await servePeer(open)

async function open({ url }: PeerOptions): Promise<Peer> {
  const { hostname: host, port } = new URL(url)
  const connection = { host, port: Number(port), maxRetriesPerRequest: null }
  const finished = { removeOnComplete: { count: 1_000 }, removeOnFail: { count: 1_000 } }
  const queue = new Queue(QUEUE, { connection })
  const waiting = new Map<string, () => void>()
  let started: () => void = () => {}
  const run = async (): Promise<void> => {
    const child = spawn('true', { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    await once(child, 'spawn')
    started()
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`it ended with ${code}`)
  }
  const worker = new Worker(QUEUE, run, { connection, concurrency: CONCURRENCY, ...finished })
  worker.on('completed', ({ name }) => waiting.get(name)?.())
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
  return {
    async runTrees(count, width) {
      let made = 0
      await atOnce(count, width, async () => {
        const name = `e${made++}`
        const ended = new Promise<void>((resolve) => waiting.set(name, resolve))
        await queue.add(name, {})
        await ended
      })
    },
    async createItem(onStart) {
      started = onStart
      await queue.add('event', {})
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([worker.close(), queue.close()])
    },
  }
}
