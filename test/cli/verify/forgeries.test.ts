import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { allMachines } from '../../../src/families/machines.ts'
import { lineOf } from '../../../src/log/line.ts'
import { signSeal } from '../../../src/seal/seal.ts'
import { seeded } from '../../testkit/seed.ts'
import {
  type Handed,
  KEY,
  lineOfRecord,
  NEW_KEY,
  pick,
  type Random,
  randomLog,
  STRANGER,
  sealAgain,
  sealLines,
  verdictOn,
} from './sealed-log.ts'

/** Forgeries of every kind are planted in random logs, and each is found; nothing is found in logs that are as they were written. */

const PLANTED = 1_000
const CHANGES = 120

/** A log of which heads were kept elsewhere, sealed to its end with a key that was replaced in the middle. */
function honest(random: Random): Handed {
  const lines = randomLog(random, CHANGES).map(lineOfRecord)
  const middle = 40 + Math.floor(random() * 40)
  const stretches = [{ through: middle }, { through: CHANGES, epoch: 2, base: middle, key: NEW_KEY.privateKey }]
  const seals = sealLines(lines, stretches, { random })
  const heads = seals.filter((seal) => random() < 0.3 || seal === seals.at(-1))
  // A loss that is accepted excuses no forgery.
  return { lines, seals, heads, keys: [KEY.publicKey, NEW_KEY.publicKey], options: { allowLost: true } }
}

type Forgery = (log: Handed, random: Random) => Handed
/** The places of changes that move an object which is there already. */
const movesOf = (lines: readonly string[]): readonly number[] =>
  lines.flatMap((line, i) => (line.includes('"revision":0') || line.includes('"from":null') ? [] : [i]))
const place = (random: Random, { lines }: Handed): number => Math.floor(random() * lines.length)
const withLines = (log: Handed, lines: readonly string[]): Handed => ({ ...log, lines })
const edited = (line: string, edit: (fields: Record<string, unknown>) => object): string =>
  JSON.stringify(edit(JSON.parse(line) as Record<string, unknown>))
const privateKeyOf = (epoch: number) => (epoch === 1 ? KEY : NEW_KEY).privateKey
/** Somebody who has the keys seals what they like. */
const sealedByUs = (log: Handed, lines: readonly string[]): Handed => ({
  ...log,
  lines,
  heads: [],
  seals: sealAgain(log.seals, lines, null).map(({ key: _, signature: __, ...seal }) =>
    signSeal(seal, privateKeyOf(seal.epoch)),
  ),
})
const inSeals = (
  log: Handed,
  at: number,
  edit: (seal: Handed['seals'][number]) => Handed['seals'][number],
): Handed => ({
  ...log,
  seals: log.seals.map((seal, i) => (i === at ? edit(seal) : seal)),
})
const other = (value: unknown): unknown => {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  return value === null ? 'x' : `${String(value)}x`
}
const [FIRST] = randomLog(() => 0.5, 1)
const FIELDS = Object.keys(lineOf(FIRST as NonNullable<typeof FIRST>))

const FORGERIES: Readonly<Record<string, Forgery>> = {
  ...Object.fromEntries(
    FIELDS.map((field): [string, Forgery] => [
      `${field} is edited`,
      (log, random) => {
        const at = place(random, log)
        const lines = log.lines.with(
          at,
          edited(log.lines[at] ?? '', (line) => ({ ...line, [field]: other(line[field]) })),
        )
        return withLines(log, lines)
      },
    ]),
  ),
  'a field is added': (log, random) => {
    const at = place(random, log)
    return withLines(
      log,
      log.lines.with(
        at,
        edited(log.lines[at] ?? '', (line) => ({ ...line, note: 'x' })),
      ),
    )
  },
  'a line is written in another way': (log, random) => {
    const at = place(random, log)
    return withLines(log, log.lines.with(at, (log.lines[at] ?? '').replace(',', ', ')))
  },
  'a change is dropped': (log, random) =>
    withLines(log, log.lines.toSpliced(1 + Math.floor(random() * (CHANGES - 1)), 1)),
  'a change comes twice': (log, random) => {
    const at = place(random, log)
    return withLines(log, log.lines.toSpliced(at, 0, log.lines[at] ?? ''))
  },
  'a change is moved': (log, random) => {
    const [from, to] = [place(random, log), place(random, log)]
    const rest = log.lines.toSpliced(from, 1)
    return withLines(log, rest.toSpliced(from === to ? (to + 1) % CHANGES : to, 0, log.lines[from] ?? ''))
  },
  'a change is dropped, and the rest is numbered again': (log, random) => {
    const rest = log.lines.toSpliced(place(random, log), 1)
    return withLines(
      log,
      rest.map((line, i) => edited(line, (fields) => ({ ...fields, sequence: i + 1 }))),
    )
  },
  'a change is put in, and the rest is numbered again': (log, random) => {
    const at = place(random, log)
    const more = log.lines.toSpliced(at, 0, log.lines[at] ?? '')
    return withLines(
      log,
      more.map((line, i) => edited(line, (fields) => ({ ...fields, sequence: i + 1 }))),
    )
  },
  'two blocks change places': (log, random) => {
    const at = Math.floor(random() * (log.seals.length - 1))
    const [a, b] = [log.seals[at], log.seals[at + 1]]
    const part = (seal: typeof a) => log.lines.slice((seal?.first ?? 1) - 1, seal?.last)
    const lines = [...log.lines.slice(0, (a?.first ?? 1) - 1), ...part(b), ...part(a), ...log.lines.slice(b?.last)]
    return withLines(log, lines)
  },
  'the end is cut off': (log, random) => withLines(log, log.lines.slice(0, place(random, log))),
  'the end is cut off, with its seals': (log, random) => {
    const seals = log.seals.slice(0, 1 + Math.floor(random() * (log.seals.length - 1)))
    return { ...log, seals, lines: log.lines.slice(0, seals.at(-1)?.last) }
  },
  'a line is damaged': (log, random) => {
    const at = place(random, log)
    return withLines(log, log.lines.with(at, (log.lines[at] ?? '').slice(0, -5)))
  },
  'a seal is dropped': (log, random) => ({
    ...log,
    seals: log.seals.toSpliced(Math.floor(random() * (log.seals.length - 1)), 1),
  }),
  'two seals change places': (log, random) => {
    const at = Math.floor(random() * (log.seals.length - 1))
    return { ...log, seals: log.seals.toSpliced(at, 2, ...log.seals.slice(at, at + 2).toReversed()) }
  },
  'a seal is edited': (log, random) => {
    const names = ['size', 'log', 'epoch', 'base', 'first', 'last', 'at', 'key'] as const
    const name = pick(random, names)
    return inSeals(log, Math.floor(random() * log.seals.length), (seal) => ({ ...seal, [name]: other(seal[name]) }))
  },
  'a leaf or a root is edited': (log, random) => {
    const name = pick(random, ['leaf', 'root'] as const)
    return inSeals(log, Math.floor(random() * log.seals.length), (seal) => ({
      ...seal,
      [name]: seal[name].replace(/./, (digit) => (digit === '0' ? '1' : '0')),
    }))
  },
  'a seal is signed with another key': (log, random) =>
    inSeals(log, Math.floor(random() * log.seals.length), ({ key: _, signature: __, ...seal }) =>
      signSeal(seal, STRANGER.privateKey),
    ),
  'a seal is signed with another key, under the name of ours': (log, random) =>
    inSeals(log, Math.floor(random() * log.seals.length), ({ key, signature: __, ...seal }) => ({
      ...signSeal(seal, STRANGER.privateKey),
      key,
    })),
  'all is written again, with its leaves and roots, under the old signatures': (log, random) => {
    const at = place(random, log)
    const lines = log.lines.with(
      at,
      edited(log.lines[at] ?? '', (line) => ({ ...line, by: 'mallory' })),
    )
    return { ...log, lines, seals: sealAgain(log.seals, lines, null) }
  },
  'all is written again, and signed with another key': (log, random) => {
    const at = place(random, log)
    const lines = log.lines.with(
      at,
      edited(log.lines[at] ?? '', (line) => ({ ...line, by: 'mallory' })),
    )
    return { ...log, lines, heads: [], seals: sealAgain(log.seals, lines, generateKeyPairSync('ed25519').privateKey) }
  },
  'all is written again by who has the keys, after heads were published': (log, random) => {
    const at = place(random, log)
    const lines = log.lines.with(
      at,
      edited(log.lines[at] ?? '', (line) => ({ ...line, by: 'mallory' })),
    )
    return { ...sealedByUs(log, lines), heads: log.heads }
  },
  'a root that is not that of the leaves is signed by who has the keys': (log, random) =>
    inSeals({ ...log, heads: [] }, Math.floor(random() * log.seals.length), ({ key: _, signature: __, ...seal }) =>
      signSeal({ ...seal, root: '0'.repeat(64) }, privateKeyOf(seal.epoch)),
    ),
  'a block is left out by who has the keys, and no size says so': (log, random) => {
    const kept = log.seals.toSpliced(Math.floor(random() * (log.seals.length - 1)), 1)
    const seals = sealAgain(kept, log.lines, null)
    return {
      ...{ ...log, heads: [] },
      seals: seals.map(({ key: _, signature: __, ...seal }) => signSeal(seal, privateKeyOf(seal.epoch))),
    }
  },
  'an epoch is hidden': (log) => ({
    ...log,
    seals: log.seals.map((seal) => ({ ...seal, epoch: 1, base: 0, log: log.seals[0]?.log ?? '' })),
  }),
  'an illegal change is sealed by who has the keys': (log, random) => {
    const at = pick(random, movesOf(log.lines))
    return sealedByUs(
      log,
      log.lines.with(
        at,
        edited(log.lines[at] ?? '', (line) => ({ ...line, actor: 'NOBODY' })),
      ),
    )
  },
  'a change that another phase allows is sealed by who has the keys': (log, random) => {
    const machine = (line: string) => allMachines.find(({ name }) => line.includes(`"machine":"${name}"`))
    const rows = movesOf(log.lines).flatMap((i) => {
      const line = log.lines[i] ?? ''
      return (machine(line)?.transitions ?? []).flatMap((row) =>
        line.includes(`"from":"${row.from}"`) ? [] : [{ i, row }],
      )
    })
    const { i, row } = pick(random, rows)
    const { from, actor, to } = row
    return sealedByUs(
      log,
      log.lines.with(
        i,
        edited(log.lines[i] ?? '', (line) => ({ ...line, from, actor, to })),
      ),
    )
  },
  'a change from another phase is sealed by who has the keys': (log, random) => {
    const created = log.lines.flatMap((line, i) => (line.includes('"from":null') ? [i] : []))
    const at = pick(random, created)
    return sealedByUs(
      log,
      log.lines.with(
        at,
        edited(log.lines[at] ?? '', (line) => ({ ...line, from: line.to })),
      ),
    )
  },
  'an object is created twice by who has the keys': (log, random) => {
    const creation = log.lines.find((line) => line.includes('"from":null')) ?? ''
    const later = log.lines.flatMap((line, i) => (i > 0 && line.includes('"from":null') ? [i] : []))
    const at = pick(random, later)
    return sealedByUs(
      log,
      log.lines.with(
        at,
        edited(creation, (line) => ({ ...line, sequence: at + 1 })),
      ),
    )
  },
  'a revision of old is sealed by who has the keys': (log, random) => {
    const at = pick(random, movesOf(log.lines))
    return sealedByUs(
      log,
      log.lines.with(
        at,
        edited(log.lines[at] ?? '', (line) => ({ ...line, revision: 1 })),
      ),
    )
  },
}

test(`each of ${PLANTED} planted forgeries is found`, async () => {
  const random = seeded()
  const kinds = Object.entries(FORGERIES)
  const missed: string[] = []
  let log = honest(random)
  for (let i = 0; i < PLANTED; i++) {
    const [what, forge] = kinds[i % kinds.length] as (typeof kinds)[number]
    if (i % kinds.length === 0) log = honest(random)
    const { code, problem } = await verdictOn(forge(log, random))
    if (code !== 1 || !problem) missed.push(what)
  }
  expect(missed).toEqual([])
})

test('a problem is named with its place, in words', async () => {
  const log = honest(seeded())
  const at = log.seals[2]?.first ?? 0
  const lines = log.lines.with(
    at,
    edited(log.lines[at] ?? '', (line) => ({ ...line, message: 'x' })),
  )
  const { problem } = await verdictOn({ ...log, lines })
  expect(problem).toMatchObject({
    sequence: at,
    problem: 'CHANGED',
    means: expect.stringContaining('sealed') as string,
  })
  const dropped = await verdictOn({ ...log, lines: log.lines.toSpliced(9, 1) })
  expect(dropped.problem).toMatchObject({ sequence: 10, problem: 'MISSING', what: '11 is in the place of 10' })
})

test('nothing is found in logs that are as they were written', async () => {
  const random = seeded()
  for (let i = 0; i < 50; i++) {
    const log = honest(random)
    expect(await verdictOn(log)).toMatchObject({ code: 0, ok: true, unsealed: 0, partial: 0, lost: [] })
    // The end is not sealed yet.
    const seals = log.seals.slice(0, -2)
    const unsealed = CHANGES - (seals.at(-1)?.last ?? 0)
    expect(await verdictOn({ ...log, seals, heads: [] })).toMatchObject({ code: 0, unsealed })
    // Retention has removed the beginning, in the middle of a block.
    const floor = Math.floor(random() * (CHANGES - 1))
    const { problem, range, partial } = await verdictOn({ ...log, lines: log.lines.slice(floor) })
    expect(problem).toBe(null)
    expect(range).toEqual({ first: floor + 1, last: CHANGES })
    const cut = log.seals.find(({ first, last }) => first <= floor && floor < last)
    expect(partial).toBe(cut ? cut.last - floor : 0)
  }
})

test('a restore loses what was published after it, which is named, and accepted only on request', async () => {
  const random = seeded()
  for (let i = 0; i < 20; i++) {
    const lines = randomLog(random, CHANGES).map(lineOfRecord)
    const [common, published] = [50, 90]
    const before = sealLines(lines, [{ through: common }], { random })
    const heads = sealLines(lines, [{ through: published }], { random, before })
    const continued = lines
      .slice(0, 80)
      .map((line, at) => (at < common ? line : edited(line, (fields) => ({ ...fields, by: 'bob' }))))
    const seals = sealLines(continued, [{ through: 80, epoch: 2, base: common }], { random, before })
    const log = { lines: continued, seals, keys: [KEY.publicKey] }
    expect(await verdictOn({ ...log, heads: before })).toMatchObject({ code: 0, lost: [] })
    const lost = [{ epoch: 1, from: common + 1, through: published }]
    const told = await verdictOn({ ...log, heads })
    expect(told).toMatchObject({ code: 1, lost, problem: { sequence: common + 1, problem: 'LOST' } })
    expect(await verdictOn({ ...log, heads, options: { allowLost: true } })).toMatchObject({
      code: 0,
      lost,
      problem: null,
    })
    // An archive keeps ends that were lost: that of the second history, which the third does not continue, too.
    const restored = (history: number, sequence: number) => [
      JSON.stringify({
        why: 'RESTORED',
        history: history + 1,
        after: { history: 1, sequence },
        next: sequence + 1,
        cursor: 'c',
      }),
    ]
    const archive = {
      '001-000000000001-000000000030-2026-11-29.ndjson': lines.slice(0, 30),
      '001-000000000031-000000000050-2026-11-30.ndjson': lines.slice(30, 50),
      '001-000000000051-000000000090-2026-11-30.ndjson': lines.slice(50, 90),
      '002-000000000030-restored.json': restored(1, 30),
      '002-000000000031-000000000060-2026-11-30.ndjson': ['{}'],
      '003-000000000050-restored.json': restored(2, 50),
      '003-000000000051-000000000060-2026-11-30.ndjson': continued.slice(50, 60),
      '003-000000000061-000000000080-2026-11-30.ndjson': continued.slice(60),
    }
    expect(await verdictOn({ ...log, heads: before, archive })).toMatchObject({
      code: 0,
      range: { first: 1, last: 80 },
    })
    // One that was restored to its beginning continues after no line at all, so its record has no cursor.
    const anew = { why: 'RESTORED', history: 2, after: { history: 1, sequence: 0 }, next: 1, cursor: null }
    const begun = {
      '001-000000000001-000000000030-2026-11-29.ndjson': lines.slice(0, 30),
      '002-000000000000-restored.json': [JSON.stringify(anew)],
      '002-000000000001-000000000080-2026-11-30.ndjson': continued,
    }
    expect(await verdictOn({ ...log, heads, archive: begun, options: { allowLost: true } })).toMatchObject({
      code: 0,
      range: { first: 1, last: 80 },
    })
    // The heads of the new history are no excuse for a head of the old one that is within what both have.
    const rewritten = sealAgain(heads, lines.with(3, lines[4] ?? ''), KEY.privateKey)
    expect(await verdictOn({ ...log, heads: rewritten, options: { allowLost: true } })).toMatchObject({
      code: 1,
      problem: { problem: 'REWRITTEN' },
    })
  }
})

test('a gap that the archive records is said, and lacks no more than the record says', async () => {
  const random = seeded()
  for (let i = 0; i < 20; i++) {
    const log = honest(random)
    const { lines } = log
    const record = (from: number, through: number) => [
      JSON.stringify({
        why: 'PRUNED',
        history: 1,
        after: { history: 1, sequence: from - 1 },
        next: through + 1,
        cursor: 'c',
      }),
    ]
    const archive: Record<string, readonly string[]> = {
      '001-000000000010-pruned.json': record(1, 10),
      '001-000000000011-000000000040-2026-11-29.ndjson': lines.slice(10, 40),
      '001-000000000060-pruned.json': record(41, 60),
      '001-000000000061-000000000120-2026-11-30.ndjson': lines.slice(60),
    }
    const within = (from: number, to: number) => log.seals.filter(({ first, last }) => first < from && last >= to)
    const unsealed = 40 - Math.max(10, ...log.seals.filter(({ last }) => last <= 40).map(({ last }) => last))
    const found = await verdictOn({ ...log, archive })
    expect(found).toMatchObject({ code: 0, range: { first: 11, last: CHANGES }, count: 90, problem: null })
    expect(found.gaps).toEqual([
      { from: 1, through: 10 },
      { from: 41, through: 60 },
    ])
    if (within(11, 40).length === 0) expect(found.unsealed).toBe(unsealed)
    const forged = (name: string, part: readonly string[]) =>
      verdictOn({ ...log, archive: { ...archive, [name]: part } })
    const missing = (sequence: number) => ({ code: 1, problem: { problem: 'MISSING', sequence } })
    const [before, after] = Object.keys(archive).filter((name) => name.endsWith('ndjson')) as [string, string]
    expect(await forged(before, lines.slice(10, 39))).toMatchObject(missing(40))
    expect(await forged(after, lines.slice(61))).toMatchObject(missing(61))
    const edit = Math.floor(random() * 60) + 60
    const name = `"name":"o-${edit + 1}"`
    const changed = await forged(
      after,
      lines.slice(60).with(edit - 60, (lines[edit] ?? '').replace(name, '"name":"x"')),
    )
    const isSealed = log.seals.some(({ first, last }) => first > 60 && first <= edit + 1 && last >= edit + 1)
    expect(changed.problem?.problem).toBe(isSealed ? 'CHANGED' : undefined)
  }
})
