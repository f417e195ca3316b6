import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { type Peer, type PeerOptions, Roots, servePeer } from '../harness-peer.ts'

/**
 * Woken by LISTEN and NOTIFY, in batches, several workers at a time. Its own flows are resolved every few seconds:
 * children count down a row of their tree instead, a batch at a time and in the transaction that completes them.
 */
const TREE_WORK = {
  batchSize: 500,
  localConcurrency: 4,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5,
  transactional: true,
} as const
const COUNT_DOWN = 'update tree_left set items = items - $2 where id = $1 returning items'

async function open({ url }: PeerOptions): Promise<Peer> {
  const boss = new PgBoss({ connectionString: url, useListenNotify: true, max: 10 })
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`))
  await boss.start()
  for (const name of ['child', 'root', 'item']) await boss.createQueue(name, { notify: true })
  const pool = new pg.Pool({ connectionString: url, max: 5 })
  await pool.query('create table tree_left (id bigint generated always as identity primary key, items int not null)')
  let roots = new Roots(0)
  let started: () => void = () => {}
  await boss.work<{ id: string }>('child', TREE_WORK, async (jobs, db) => {
    for (const [id, those] of Map.groupBy(jobs, ({ data }) => data.id)) {
      const { rows } = (await db.executeSql(COUNT_DOWN, [id, those.length])) as { rows: { items: number }[] }
      if (rows[0]?.items === 0) await boss.send('root', { id }, { db })
    }
  })
  await boss.work('root', { batchSize: 20, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }, async (jobs) => {
    for (const _ of jobs) roots.ended()
  })
  await boss.work('item', { pollingIntervalSeconds: 0.5 }, async () => started())
  return {
    async runTrees(count, size) {
      roots = new Roots(count)
      const { rows } = await pool.query<{ id: string }>(
        'insert into tree_left (items) select $1::int from generate_series(1, $2::int) returning id',
        [size, count],
      )
      const jobs = rows.flatMap(({ id }) => Array.from({ length: size }, () => ({ data: { id } })))
      await boss.insert('child', jobs)
      await roots.allEnded
    },
    async createItem(onStart) {
      started = onStart
      await boss.send('item', {})
    },
    async [Symbol.asyncDispose]() {
      await boss.stop({ graceful: false })
      await pool.end()
    },
  }
}

await servePeer(open)
