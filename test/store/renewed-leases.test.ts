import { expect, test } from 'vitest'
import type { Work } from '../../src/core/tree.ts'
import { kindsOf } from '../../src/engine/families.ts'
import { TrackedObject } from '../../src/engine/tracked-object.ts'
import { writeWork } from '../../src/store/write-work.ts'
import { loaded } from '../testkit/mutate.ts'
import { createWorld, DEPLOYER, item } from '../testkit/world.ts'

/** More changes of different columns than statements are made for: from then on a statement writes all columns. */
const CHANGES: readonly Partial<Work>[] = [
  { attempt: 2 },
  { dueAt: new Date(1) },
  { doneAt: new Date(1) },
  { abortCode: 'A' },
  { progressingMs: 1 },
  { abortingMs: 1 },
  { instance: 'other' },
  { target: 'other' },
  { offerAfter: new Date(1) },
  { triggeredAt: new Date(1) },
  { leaseWatched: true },
].flatMap((change, i, all) => [
  change,
  { ...change, ...all[(i + 1) % all.length] },
  { ...change, ...all[(i + 2) % all.length] },
])

test('a write that does not change the lease never sets a renewed lease back, whatever else it changes', async () => {
  await using world = await createWorld()
  await world.create('shop', { deployItems: [item('a')] })
  const [claimed] = await world.claim(1, DEPLOYER)
  const { rows: reads } = kindsOf(loaded.map(({ rules }) => rules))
  const { objectId } = claimed ?? { objectId: '' }
  const { rows } = await world.pool.query<{ root_id: string }>('select root_id from object where id = $1', [objectId])
  const [remembered] = (await reads.nodes(world.pool, rows[0]?.root_id ?? '', [objectId])).filter(
    ({ row }) => row.id === objectId,
  )
  if (!remembered?.work) throw new Error('the work was not loaded')
  const renewed = new Date(world.clock.now().getTime() + 60_000)
  await world.pool.query('update work set lease_until = $2 where object_id = $1', [objectId, renewed])
  for (const change of CHANGES) {
    const node = new TrackedObject(remembered, true)
    node.work = { ...remembered.work, ...change }
    await writeWork(world.pool, [node])
  }
  const { rows: after } = await world.pool.query('select lease_until as at from work where object_id = $1', [objectId])
  expect(after).toEqual([{ at: renewed }])
})
