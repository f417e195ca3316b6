import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { compareHeads, keysOf, verifySeals } from '../../src/cli/verify/verify-seals.ts'
import type { PhaseChangeRecord } from '../../src/core/ports/phase-change.ts'
import { numberBatches } from '../../src/log/number-batches.ts'
import { readPage } from '../../src/log/page.ts'
import { pruneStep } from '../../src/log/prune.ts'
import { Sealer } from '../../src/log/sealer.ts'
import { readSeals } from '../../src/log/seals.ts'
import { parseSeal, type Seal } from '../../src/seal/seal.ts'
import { KEY, lineOfRecord, NEW_KEY, randomLog, verdictOn } from '../cli/verify/sealed-log.ts'
import { copyDatabase, createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { seeded } from '../testkit/seed.ts'
import { write } from './writer.ts'

/** Seals of a log in Postgres, and what a stranger finds with them. */

const logger = pino({ level: 'silent' })
const KEYS = [KEY.publicKey, NEW_KEY.publicKey]

async function database(made: Promise<TestDatabase> = createTestDatabase()): Promise<TestDatabase> {
  const db = await made
  onTestFinished(() => db[Symbol.asyncDispose]())
  return db
}
/** Stopped before its database goes. */
function sealer({ pool }: TestDatabase, key = KEY.privateKey): Sealer {
  const made = new Sealer({ pool, system: { now: () => new Date() }, logger, key })
  onTestFinished(() => made[Symbol.asyncDispose]())
  return made
}

async function grow({ pool }: TestDatabase, records: readonly PhaseChangeRecord[]): Promise<void> {
  for (const { sequence: _, batchId: __, idx: ___, ...change } of records) await write(pool, change.rootId, [change])
  while ((await numberBatches(pool)) !== null);
}
async function linesOf({ pool }: TestDatabase): Promise<readonly string[]> {
  const all = { projects: null, includeRejected: true } as const
  const { changes } = await readPage(pool, all, { after: 0, limit: 10_000, direction: 'forward' })
  return changes.map(lineOfRecord)
}
const sealsOf = async ({ pool }: TestDatabase): Promise<readonly Seal[]> =>
  (await readSeals(pool, 0, 10_000)).map((line) => parseSeal(line) as Seal)
const verdict = async (db: TestDatabase, heads: readonly Seal[] = []) =>
  await verdictOn({ lines: await linesOf(db), seals: await sealsOf(db), heads, keys: KEYS })

test('sealers of several processes seal each change once; whoever edits a row afterwards is found', async () => {
  const db = await database()
  const records = randomLog(seeded(), 90)
  const [one, two] = [sealer(db), sealer(db, NEW_KEY.privateKey)]
  for (let from = 0; from < 90; from += 30) {
    await grow(db, records.slice(from, from + 30))
    await Promise.all([one.seal(), two.seal()])
  }
  await one.seal()
  await two.seal()
  expect(await verdict(db)).toMatchObject({ code: 0, range: { first: 1, last: 90 }, unsealed: 0, problem: null })
  // Nothing is sealed twice, or where there is nothing.
  const seals = await sealsOf(db)
  await sealer(db).seal()
  expect(await sealsOf(db)).toEqual(seals)
  await db.pool.query(
    `update log_content set "by" = array['mallory'] where batch_id = (select id from log_batch where first_seq = 45)`,
  )
  const [block] = seals.filter(({ first, last }) => first <= 45 && last >= 45)
  expect(await verdict(db)).toMatchObject({ code: 1, problem: { problem: 'CHANGED', sequence: block?.first } })
})

test('what retention has removed stays in the tree of those that are left', async () => {
  const db = await database()
  const records = randomLog(seeded(), 90)
  const one = sealer(db)
  for (let from = 0; from < 90; from += 30) {
    await grow(db, records.slice(from, from + 30))
    await one.seal()
  }
  const before = records[44]?.at ?? new Date()
  while ((await pruneStep(db.pool, { before, secondaryMachines: [] })) !== 'done');
  expect(await verdict(db)).toMatchObject({ code: 0, range: { first: 45, last: 90 }, partial: 16, problem: null })
  // A process that has begun later reads the tree from the seals.
  await grow(
    db,
    records.slice(0, 10).map((record) => ({ ...record, at: new Date() })),
  )
  await sealer(db).seal()
  const seals = await sealsOf(db)
  expect(seals.at(-1)).toMatchObject({ size: 4, first: 91, last: 100 })
  expect(verifySeals(seals, keysOf(KEYS))).toBe(null)
})

test('a restored database seals on in an epoch of its own, and lacks what was published after it', async () => {
  const db = await database()
  const records = randomLog(seeded(), 90)
  const one = sealer(db)
  await grow(db, records.slice(0, 30))
  await one.seal()
  const copy = await database(copyDatabase(db))
  await grow(db, records.slice(30, 60))
  await one.seal()
  const published = await sealsOf(db)
  // The sealer is the first that opens the copy.
  await grow(copy, records.slice(30, 40))
  await sealer(copy).seal()
  const seals = await sealsOf(copy)
  expect(seals.map(({ epoch, base, first, last }) => ({ epoch, base, first, last }))).toEqual([
    { epoch: 1, base: 0, first: 1, last: 30 },
    { epoch: 2, base: 30, first: 31, last: 40 },
  ])
  expect(await verdict(copy, published.slice(0, 1))).toMatchObject({ code: 0, lost: [] })
  expect(compareHeads(published, seals, keysOf(KEYS))).toEqual([{ epoch: 1, from: 31, through: 60 }])
  expect(await verdict(copy, published)).toMatchObject({ code: 1, problem: { problem: 'LOST', sequence: 31 } })
})
