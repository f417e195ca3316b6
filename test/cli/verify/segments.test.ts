import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LogFiles } from '../../../src/cli/verify/lines.ts'
import { verifyLog } from '../../../src/cli/verify/verify-log.ts'
import type { PhaseChangeRecord } from '../../../src/core/ports/phase-change.ts'
import { allMachines as machines } from '../../../src/families/machines.ts'
import { seeded } from '../../testkit/seed.ts'
import { lineOfRecord, randomLog, sealLines } from './sealed-log.ts'

/** A log is verified in segments, by several threads: the same is found however it is divided. */

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'segments-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function filesOf(parts: readonly (readonly string[])[]): Promise<LogFiles> {
  const files = parts.map(async (lines, i) => {
    const text = lines.map((line) => `${line}\n`).join('')
    const path = join(folder, `${i}.ndjson`)
    await writeFile(path, text)
    return { path, size: Buffer.byteLength(text) }
  })
  return { files: await Promise.all(files) }
}

test('segments of any size find what one finds', async () => {
  const random = seeded()
  const n = 400
  for (let i = 0; i < 25; i++) {
    const lines = randomLog(random, n).map(lineOfRecord)
    // The end is not sealed, so segments meet at one change in some thousands there.
    const seals = sealLines(lines, [{ through: 300 }], { random })
    const at = Math.floor(random() * n)
    const forged = [
      lines,
      lines.with(at, (lines[at] ?? '').replace(/"to":"(\w)/, '"to":"X$1')),
      lines.toSpliced(at, 1),
      lines.with(at, '{}'),
      lines.with(at, (lines[at] ?? '').replace('"byId":null', '"byId":"x"')),
    ][i % 5] as readonly string[]
    const cuts = [0, Math.floor(random() * n), n].toSorted((a, b) => a - b)
    const source = await filesOf([forged.slice(0, cuts[1]), forged.slice(cuts[1])])
    const whole = await verifyLog(source, { seals, machines })
    if (i % 5 === 0) expect(whole).toMatchObject({ found: null, count: n, unsealed: 100, range: { first: 1, last: n } })
    else if (i % 5 < 4) expect(whole.found).not.toBe(null)
    for (const segmentBytes of [300, 2_000, 20_000, 70_000].map((most) => 100 + Math.floor(random() * most)))
      expect((await verifyLog(source, { seals, machines, segmentBytes, threads: 0 })).found).toEqual(whole.found)
  }
})

test('threads find the same, and objects are followed from segment to segment', async () => {
  const random = seeded()
  const n = 20_000
  const [created, ...others] = randomLog(random, n)
  // Nothing more happens to it.
  const kept = { ...(created as PhaseChangeRecord), objectId: '00000000-0000-4000-8000-000000000000' }
  const lines = [
    kept,
    { ...(created as PhaseChangeRecord), sequence: 2 },
    ...others.map((one) => ({ ...one, sequence: one.sequence + 1 })),
  ]
  const texts = lines.map(lineOfRecord)
  const range = { first: 1, last: n + 1 }
  const source = await filesOf([texts])
  const parts = { machines, segmentBytes: 1_000_000, threads: 2 }
  const counts = { range, count: n + 1, partial: 0 }
  expect(await verifyLog(source, { ...parts, seals: [] })).toEqual({ ...counts, unsealed: n + 1, found: null })
  const seals = sealLines(texts, [{ through: n + 1 }], { random })
  expect(await verifyLog(source, { ...parts, seals })).toEqual({ ...counts, unsealed: 0, found: null })
  const again = lineOfRecord({ ...kept, sequence: n + 2 })
  const found = { sequence: n + 2, problem: 'INTERRUPTED', what: 'the object is created again' }
  expect((await verifyLog(await filesOf([[...texts, again]]), { ...parts, seals: [] })).found).toEqual(found)
})
