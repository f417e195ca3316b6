import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { CursorExpired } from '../../src/core/ports/log.ts'
import { appendChanges } from '../../src/log/append.ts'
import { changedTrees } from '../../src/log/changed-trees.ts'
import { numberBatches } from '../../src/log/number-batches.ts'
import { readPage } from '../../src/log/page.ts'
import { treeAt } from '../../src/log/tree-at.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { randomBatches, replay, secondaryMachines } from './replay.ts'
import { change } from './writer.ts'

const ROOTS = [v7(), v7()]
const at = (rootId: string, sequence: number) => ({ rootId, sequence })

test('a tree at each of its sequences equals the replay of the log up to there', async () => {
  await using db = await createTestDatabase()
  const batches = randomBatches(ROOTS, 3, (n) => new Date(1_800_000_000_000 + n))
  for (const changes of batches) await appendChanges(db.pool, changes)
  await numberBatches(db.pool)
  const everything = { projects: null, includeRejected: true }
  const log = (await readPage(db.pool, everything, { after: 0, limit: 1_000, direction: 'forward' })).changes
  expect(log.length).toBeGreaterThan(100)
  for (let sequence = 0; sequence <= log.length; sequence++) {
    for (const rootId of ROOTS) {
      expect(await treeAt(db.pool, at(rootId, sequence), secondaryMachines)).toEqual({
        sequence,
        objects: replay(log, rootId, sequence),
      })
    }
  }
  expect(await treeAt(db.pool, at(v7(), log.length), secondaryMachines)).toEqual({ sequence: log.length, objects: [] })
})

test('a sequence that is not reached yet, or pruned, is expired', async () => {
  await using db = await createTestDatabase()
  const [rootId = ''] = ROOTS
  await appendChanges(db.pool, [change(rootId), change(rootId), change(rootId)])
  // Not numbered, so it is not in the log.
  await expect(treeAt(db.pool, at(rootId, 1), secondaryMachines)).rejects.toThrow(CursorExpired)
  await numberBatches(db.pool)
  await db.pool.query('update log_meta set floor_seq = 2')
  await expect(treeAt(db.pool, at(rootId, 1), secondaryMachines)).rejects.toMatchObject({ oldest: 3, head: 3 })
  await expect(treeAt(db.pool, at(rootId, 4), secondaryMachines)).rejects.toMatchObject({ oldest: 3, head: 3 })
  expect((await treeAt(db.pool, at(rootId, 3), secondaryMachines)).objects).toHaveLength(1)
})

test('the changes of a project are not read beyond the bound', async () => {
  await using db = await createTestDatabase()
  const projectId = v7()
  const one = change(v7(), { projectId })
  for (let n = 0; n < 3; n++) await appendChanges(db.pool, [one])
  await numberBatches(db.pool)
  const window = { projectId, rootId: null, since: new Date(0), until: new Date(8.64e15) }
  const read = (most: number) => changedTrees(db.pool, window, { failed: [], secondaryMachines }, most)
  expect([await read(2), (await read(3))?.length]).toEqual([null, 1])
})

test('a tree that is new has its creation beside its changes', async () => {
  await using db = await createTestDatabase()
  const projectId = v7()
  const [before, fresh] = [v7(), v7()]
  const of = (rootId: string, more: Parameters<typeof change>[1] = {}) => change(rootId, { projectId, ...more })
  await appendChanges(db.pool, [of(before)])
  await appendChanges(db.pool, [of(before, { objectId: v7(), parentId: before, from: null })])
  const [batch] = await appendChanges(db.pool, [
    of(fresh, { from: null, to: 'PENDING' }),
    of(fresh, { objectId: v7(), parentId: fresh, from: null }),
    of(fresh, { revision: 2 }),
  ])
  await appendChanges(db.pool, [of(fresh, { revision: 3, to: 'SUCCEEDED' })])
  await numberBatches(db.pool)
  const window = { projectId, rootId: null, since: new Date(0), until: new Date(8.64e15) }
  const found = await changedTrees(db.pool, window, { failed: [], secondaryMachines })
  expect(new Map(found?.map(({ rootId, creation }) => [rootId, creation]))).toEqual(
    new Map([
      [before, null],
      [fresh, { batchId: batch?.id, idx: 0 }],
    ]),
  )
})
