import { DBOS } from '@dbos-inc/dbos-sdk'
import { type Peer, type PeerOptions, servePeer } from '../harness-peer.ts'

/** As in its queue tutorial: a root workflow puts its children into a queue and awaits them all. */
const QUEUE = 'items'
const POLL_MS = 100

async function open({ url, use }: PeerOptions): Promise<Peer> {
  let started: () => void = () => {}
  const child = DBOS.registerWorkflow(async () => {}, { name: 'child' })
  const item = DBOS.registerWorkflow(async () => started(), { name: 'item' })
  const root = DBOS.registerWorkflow(
    async (size: number) => {
      const starting = Array.from({ length: size }, () => DBOS.startWorkflow(child, { queueName: QUEUE })())
      const handles = await Promise.all(starting)
      await DBOS.waitAll(handles, { pollingIntervalMs: POLL_MS })
    },
    { name: 'root' },
  )
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, systemDatabasePoolSize: 20, logLevel: 'error' })
  await DBOS.launch()
  await DBOS.registerQueue(QUEUE, { minPollingIntervalMs: POLL_MS })
  return {
    async runTrees(count, size) {
      const roots = await Promise.all(Array.from({ length: count }, () => DBOS.startWorkflow(root)(size)))
      await Promise.all(roots.map((handle) => handle.getResult()))
    },
    async createItem(onStart) {
      started = onStart
      await DBOS.startWorkflow(item, use === 'latency' ? {} : { queueName: QUEUE })()
    },
    [Symbol.asyncDispose]: () => DBOS.shutdown(),
  }
}

await servePeer(open)
