import { FlowProducer, Queue, Worker } from 'bullmq'
import { type Peer, type PeerOptions, Roots, servePeer } from '../harness-peer.ts'

/** As its documentation has it: a flow for each tree, added in bulk, and one worker with local concurrency. */
const CONCURRENCY = { tree: 100, latency: 1 }
const TREES = 'trees'
const ITEMS = 'items'

async function open({ use, url }: PeerOptions): Promise<Peer> {
  const { hostname: host, port } = new URL(url)
  const connection = { host, port: Number(port), maxRetriesPerRequest: null }
  const finished = { removeOnComplete: { count: 1_000 }, removeOnFail: { count: 1_000 } }
  const flows = new FlowProducer({ connection })
  const queue = new Queue(ITEMS, { connection })
  let roots = new Roots(0)
  let started: () => void = () => {}
  const items = new Worker(ITEMS, async () => started(), { connection, concurrency: CONCURRENCY[use], ...finished })
  const trees = new Worker(TREES, async () => {}, { connection, concurrency: CONCURRENCY[use], ...finished })
  trees.on('completed', () => roots.ended())
  await Promise.all([flows.waitUntilReady(), queue.waitUntilReady(), items.waitUntilReady(), trees.waitUntilReady()])
  return {
    async runTrees(count, size) {
      roots = new Roots(count)
      const children = Array.from({ length: size }, (_, i) => ({ name: `item-${i}`, queueName: ITEMS, data: {} }))
      await flows.addBulk(Array.from({ length: count }, (_, i) => ({ name: `t${i}`, queueName: TREES, children })))
      await roots.allEnded
    },
    async createItem(onStart) {
      started = onStart
      await queue.add('item', {})
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([items.close(), trees.close(), queue.close(), flows.close()])
    },
  }
}

await servePeer(open)
