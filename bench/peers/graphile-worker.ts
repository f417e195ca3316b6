import {
  type AddJobsJobSpec,
  Logger,
  makeWorkerUtils,
  type Runner,
  run,
  type TaskList,
  type WorkerUtils,
} from 'graphile-worker'
import pg from 'pg'
import { type Peer, type PeerOptions, Roots, servePeer } from '../harness-peer.ts'

/**
 * The settings are those of its own performance page. It has no trees: each child counts down a row of its tree, and the
 * child that reaches zero adds the root's job in the same statement.
 */
const THROUGHPUT = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }
const CONCURRENT_JOBS = 24
const COUNT_DOWN = `with counted as (update tree_left set items = items - $2 where id = $1 returning id, items)
  select graphile_worker.add_job('root', json_build_object('id', id)) from counted where items = 0`

interface Batch {
  count: number
  readonly counted: Promise<unknown>
}
const batches = new Map<number, Batch>()

/** Children of one tree that come in one turn of the event loop are counted down together. */
function batched(id: number, countDown: (n: number) => Promise<unknown>): Promise<unknown> {
  const known = batches.get(id)
  if (known) {
    known.count += 1
    return known.counted
  }
  const batch: Batch = {
    count: 1,
    counted: new Promise((resolve) => setImmediate(resolve)).then(() => {
      batches.delete(id)
      return countDown(batch.count)
    }),
  }
  batches.set(id, batch)
  return batch.counted
}

async function open({ use, url }: PeerOptions): Promise<Peer> {
  const logger = new Logger(() => () => {})
  const preset: GraphileConfig.Preset = {
    worker: {
      connectionString: url,
      concurrentJobs: CONCURRENT_JOBS,
      maxPoolSize: CONCURRENT_JOBS + 1,
      logger,
      ...(use === 'latency' ? {} : THROUGHPUT),
    },
  }
  let roots = new Roots(0)
  let started: () => void = () => {}
  const taskList: TaskList = {
    child: async (payload, { withPgClient }) => {
      const { id } = payload as { id: number }
      const countDown = (n: number): Promise<unknown> =>
        withPgClient((client) => client.query({ name: 'count-down', text: COUNT_DOWN, values: [id, n] }))
      await (use === 'tree-batched' ? batched(id, countDown) : countDown(1))
    },
    root: () => roots.ended(),
    item: () => started(),
  }
  const utils: WorkerUtils = await makeWorkerUtils({ preset })
  await utils.migrate()
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  await pool.query('create table tree_left (id bigint generated always as identity primary key, items int not null)')
  const runner: Runner = await run({ preset, taskList, noHandleSignals: true })
  return {
    async runTrees(count, size) {
      roots = new Roots(count)
      const { rows } = await pool.query<{ id: string }>(
        'insert into tree_left (items) select $1::int from generate_series(1, $2::int) returning id',
        [size, count],
      )
      const jobs = rows.flatMap(({ id }): AddJobsJobSpec[] =>
        Array.from({ length: size }, () => ({ identifier: 'child', payload: { id } })),
      )
      await utils.addJobs(jobs)
      await roots.allEnded
    },
    async createItem(onStart) {
      started = onStart
      await utils.addJob('item', {})
    },
    async [Symbol.asyncDispose]() {
      await runner.stop()
      await utils.release()
      await pool.end()
    },
  }
}

await servePeer(open)
