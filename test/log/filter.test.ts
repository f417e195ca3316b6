import fc from 'fast-check'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import type { Change, PhaseChangeQuery, PhaseChangeRecord } from '../../src/core/ports/phase-change.ts'
import type { Actor, ObjectKind, Phase } from '../../src/core/vocabulary.ts'
import { appendChanges } from '../../src/log/append.ts'
import { matches } from '../../src/log/filter.ts'
import { numberBatches } from '../../src/log/number-batches.ts'
import { countChanges, readPage } from '../../src/log/page.ts'
import { wordsOf } from '../../src/log/words.ts'
import { countHistories, loadHistories, loadPhaseChanges } from '../../src/store/loaders/phase-changes.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { change } from './writer.ts'

const ROOTS = [v7(), v7()]
/** Trees belong to one project for ever; that of the second is not known any more. */
const PROJECT_IDS = [v7(), v7()]
const projectOf = (rootId: string): string | null => (rootId === ROOTS[0] ? (PROJECT_IDS[0] ?? null) : null)
/** Objects belong to one tree for ever, as the log may rely on. */
const OBJECTS = ROOTS.flatMap((rootId) => [rootId, v7(), v7()].map((objectId) => ({ rootId, objectId })))
// Names that text in JavaScript, JSON and Postgres might disagree on.
const PROJECTS = [
  'default',
  'Default',
  'déjà',
  'de\u0301ja\u0300',
  '',
  ' ',
  'a,b{"\\',
  'NULL',
  'x\u0000',
  '\ud800',
  '\ufffd',
]
const STORED_PROJECTS = PROJECTS.filter((name) => name.isWellFormed() && !name.includes('\0'))
const KINDS: readonly ObjectKind[] = ['INSTALLATION', 'EXECUTION', 'DEPLOY_ITEM']
const PHASES: readonly Phase[] = ['INIT', 'PROGRESSING', 'GONE']
const ACTORS: readonly Actor[] = ['USER', 'CONTROLLER']

const text = fc.option(fc.constantFrom('', 'NULL', 'a "quoted", {braced} \\ word', '💥\n\t'), { nil: null })
const changes: fc.Arbitrary<Change> = fc
  .record({
    object: fc.constantFrom(...OBJECTS),
    parentId: fc.option(fc.constantFrom(...ROOTS), { nil: null }),
    parentPath: fc.option(fc.constantFrom('', 'Shop', 'Shop/ünï/deploy-items'), { nil: null }),
    actor: fc.constantFrom(...ACTORS),
    projectName: fc.constantFrom(...STORED_PROJECTS),
    kind: fc.constantFrom(...KINDS),
    name: fc.constantFrom('', 'NULL', 'ünï'),
    from: fc.option(fc.constantFrom(...PHASES), { nil: null }),
    to: fc.constantFrom(...PHASES),
    by: text,
    byId: fc.option(fc.constantFrom(...ROOTS), { nil: null }),
    reason: text,
    message: text,
    jobId: fc.option(fc.constantFrom(...ROOTS), { nil: null }),
    revision: fc.option(fc.nat(), { nil: null }),
    rejected: fc.boolean(),
    at: fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }),
  })
  .map(({ object, ...patch }) => change(object.rootId, { ...patch, ...object, projectId: projectOf(object.rootId) }))

/** Text in which the two languages, or a pattern, might differ. */
const SEARCHES = [
  '',
  'ünï',
  'ÜNÏ',
  'init',
  'SHOP ünï',
  'déjà/shop',
  'default/shop/ünï/deploy-items',
  '/',
  '//',
  'shop//',
  '%',
  '_braced',
  '\\ {braced}',
  'deploy_item user',
  'controller "quoted"',
  'i',
  '💥',
  '\ud83d',
  'x\u0000',
  'nowhere',
]

const ids = fc.constantFrom(...ROOTS, ROOTS[0]?.toUpperCase() ?? '', v7(), 'no uuid')
const queries: fc.Arbitrary<PhaseChangeQuery> = fc.record(
  {
    projects: fc.option(fc.subarray(PROJECT_IDS), { nil: null }),
    project: fc.constantFrom(...PROJECTS),
    rootId: ids,
    objectId: fc.oneof(ids, fc.constantFrom(...OBJECTS.map(({ objectId }) => objectId))),
    kinds: fc.subarray([...KINDS]),
    to: fc.subarray([...PHASES]),
    actors: fc.subarray([...ACTORS]),
    since: fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }),
    until: fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }),
    words: fc.constantFrom(...SEARCHES).map(wordsOf),
    onlyRejected: fc.boolean(),
    includeRejected: fc.boolean(),
  },
  { requiredKeys: ['projects', 'includeRejected'] },
)

test('live, pages in both directions and counts agree on matches, and records are read as written', async () => {
  await using db = await createTestDatabase()
  const written: Change[] = []
  const batch = fc.array(changes, { minLength: 1, maxLength: 40 })
  for (const [slow, ...quick] of fc.sample(fc.tuple(batch, batch, batch, batch), { numRuns: 12, seed: 7 })) {
    // A batch is of one tree. The slow one draws its place first and is numbered last, overtaken by the other tree's.
    const own = slow.filter(({ rootId }) => rootId === slow[0]?.rootId)
    const client = await db.pool.connect()
    await client.query('begin')
    await appendChanges(client, own)
    for (const others of quick.map((list) => list.filter(({ rootId }) => rootId !== slow[0]?.rootId))) {
      await appendChanges(db.pool, others)
      written.push(...others)
    }
    await numberBatches(db.pool)
    await client.query('commit')
    client.release()
    await numberBatches(db.pool)
    written.push(...own)
  }
  const everything: PhaseChangeQuery = { projects: null, includeRejected: true }
  const log = (await readPage(db.pool, everything, { after: 0, limit: 10_000, direction: 'forward' })).changes
  expect(log.map(({ sequence: _, batchId: __, idx: ___, ...record }) => record)).toEqual(written)
  expect(log.map(({ sequence }) => sequence)).toEqual(written.map((_, i) => i + 1))

  const sequences = (records: readonly PhaseChangeRecord[]) => records.map(({ sequence }) => sequence)
  const cursor = fc.nat(written.length + 2)
  await fc.assert(
    fc.asyncProperty(queries, cursor, cursor, fc.integer({ min: 1, max: 30 }), async (query, after, before, limit) => {
      const live = log.filter((record) => matches(query, record))
      const inside = live.filter(({ sequence }) => sequence > after && sequence < before)
      const page = async (direction: 'forward' | 'backward') =>
        sequences((await readPage(db.pool, query, { after, before, limit, direction })).changes)
      expect(await page('forward')).toEqual(sequences(inside.slice(0, limit)))
      expect(await page('backward')).toEqual(sequences(inside.slice(-limit)))
      if (query.words === undefined) expect(await countChanges(db.pool, query)).toBe(live.length)
    }),
    { numRuns: 300 },
  )

  const histories = fc.record({
    ids: fc.shuffledSubarray(OBJECTS.map(({ objectId }) => objectId)),
    includeRejected: fc.boolean(),
    window: fc.record({
      after: fc.option(cursor),
      before: fc.option(cursor),
      limit: fc.integer({ min: 1, max: 12 }),
      backward: fc.boolean(),
    }),
  })
  await fc.assert(
    fc.asyncProperty(histories, async ({ ids, includeRejected, window }) => {
      const { after, before, limit, backward } = window
      const all = (id: string) =>
        log.filter((record) => matches({ projects: null, objectId: id, includeRejected }, record))
      const expected = ids.map((id) => {
        const inside = all(id).filter(({ sequence: n }) => n > (after ?? 0) && n < (before ?? Number.POSITIVE_INFINITY))
        return [id, backward ? inside.slice(-limit) : inside.slice(0, limit)] as const
      })
      expect(await loadHistories(db.pool, ids, includeRejected, window)).toEqual(new Map(expected))
      const counts = await countHistories(db.pool, ids, includeRejected)
      expect(ids.map((id) => counts.get(id) ?? 0)).toEqual(ids.map((id) => all(id).length))
    }),
    { numRuns: 150 },
  )
  const some = log.filter((_, i) => i % 7 === 3)
  const found = await loadPhaseChanges(db.pool, some, null)
  expect(found.toSorted((a, b) => a.sequence - b.sequence)).toEqual(some)
})

test('an object whose last batches have only refusals still shows its earlier changes', async () => {
  await using db = await createTestDatabase()
  const [object] = OBJECTS
  const own = { objectId: object?.objectId ?? '', parentId: null }
  await appendChanges(db.pool, [change(ROOTS[0] ?? '', { ...own, to: 'INIT' })])
  for (let i = 0; i < 30; i++) {
    await appendChanges(db.pool, [change(ROOTS[0] ?? '', { ...own, to: 'GONE', rejected: true, revision: null })])
  }
  await numberBatches(db.pool)
  const window = { after: null, before: null, limit: 5, backward: true }
  const found = await loadHistories(db.pool, [own.objectId], false, window)
  expect(found.get(own.objectId)?.map(({ to }) => to)).toEqual(['INIT'])
})
