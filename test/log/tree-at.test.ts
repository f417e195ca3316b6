import fc from 'fast-check'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { CursorExpired } from '../../src/core/ports/log.ts'
import type { PhaseChangeRecord } from '../../src/core/ports/phase-change.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import { appendChanges } from '../../src/log/append.ts'
import { numberBatches } from '../../src/log/number-batches.ts'
import { readPage } from '../../src/log/page.ts'
import { treeAt } from '../../src/log/tree-at.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { change } from './writer.ts'

const ROOTS = [v7(), v7()]
const CHILDREN = ROOTS.map((rootId) => [rootId, v7(), v7(), v7()])
const PHASES: readonly Phase[] = ['INIT', 'PROGRESSING', 'SUCCEEDED', 'GONE']

const batches = fc.tuple(
  fc.nat(1),
  fc.array(fc.record({ child: fc.nat(3), to: fc.constantFrom(...PHASES), rejected: fc.boolean() }), { maxLength: 6 }),
)

/** The same, by going through the log. */
function replay(log: readonly PhaseChangeRecord[], rootId: string, sequence: number) {
  const objects = new Map<string, object>()
  for (const record of log) {
    if (record.rootId !== rootId || record.rejected || record.sequence > sequence) continue
    const { objectId, parentId, kind, name, to, at, revision } = record
    if (to === 'GONE') objects.delete(objectId)
    else objects.set(objectId, { objectId, parentId, kind, name, phase: to, phaseSince: at, revision })
  }
  return [...objects.keys()].toSorted().map((id) => objects.get(id))
}

test('a tree at each of its sequences equals the replay of the log up to there', async () => {
  await using db = await createTestDatabase()
  let revision = 0
  for (const [tree, steps] of fc.sample(batches, { numRuns: 60, seed: 3 })) {
    const rootId = ROOTS[tree] as string
    const changes = steps.map(({ child, to, rejected }) => {
      const objectId = CHILDREN[tree]?.[child] as string
      const parentId = child === 0 ? null : rootId
      revision += 1
      const at = new Date(1_800_000_000_000 + revision)
      return change(rootId, { objectId, parentId, to, rejected, at, revision: rejected ? null : revision })
    })
    await appendChanges(db.pool, changes)
  }
  await numberBatches(db.pool)
  const everything = { projects: null, includeRejected: true }
  const log = (await readPage(db.pool, everything, { after: 0, limit: 1_000, direction: 'forward' })).changes
  expect(log.length).toBeGreaterThan(100)
  for (let sequence = 0; sequence <= log.length; sequence++) {
    for (const rootId of ROOTS) {
      expect(await treeAt(db.pool, rootId, sequence)).toEqual({ sequence, objects: replay(log, rootId, sequence) })
    }
  }
  expect(await treeAt(db.pool, v7(), log.length)).toEqual({ sequence: log.length, objects: [] })
})

test('a sequence that is not reached yet, or pruned, is expired', async () => {
  await using db = await createTestDatabase()
  const [rootId = ''] = ROOTS
  await appendChanges(db.pool, [change(rootId), change(rootId), change(rootId)])
  // Not numbered, so it is not in the log.
  await expect(treeAt(db.pool, rootId, 1)).rejects.toThrow(CursorExpired)
  await numberBatches(db.pool)
  await db.pool.query('update log_meta set floor_seq = 2')
  await expect(treeAt(db.pool, rootId, 1)).rejects.toMatchObject({ oldest: 3, head: 3 })
  await expect(treeAt(db.pool, rootId, 4)).rejects.toMatchObject({ oldest: 3, head: 3 })
  expect((await treeAt(db.pool, rootId, 3)).objects).toHaveLength(1)
})
