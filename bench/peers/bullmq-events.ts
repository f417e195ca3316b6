import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Queue, Worker } from 'bullmq'
import { type Peer, type PeerOptions, Roots, servePeer } from '../harness-peer.ts'

/** A queue whose worker spawns the same process that our runtime starts, with as much at the same time. */

const QUEUE = 'events'
const CONCURRENCY = 16

await servePeer(open)

async function open({ url }: PeerOptions): Promise<Peer> {
  const { hostname: host, port } = new URL(url)
  const connection = { host, port: Number(port), maxRetriesPerRequest: null }
  const finished = { removeOnComplete: { count: 1_000 }, removeOnFail: { count: 1_000 } }
  const queue = new Queue(QUEUE, { connection })
  let roots = new Roots(0)
  let started: () => void = () => {}
  const run = async (): Promise<void> => {
    const child = spawn('true', { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    await once(child, 'spawn')
    started()
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`it ended with ${code}`)
  }
  const worker = new Worker(QUEUE, run, { connection, concurrency: CONCURRENCY, ...finished })
  worker.on('completed', () => roots.ended())
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
  return {
    async runTrees(count) {
      roots = new Roots(count)
      await queue.addBulk(Array.from({ length: count }, (_, i) => ({ name: `e${i}`, data: {} })))
      await roots.allEnded
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
