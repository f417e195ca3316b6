import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verify } from '../../../src/cli/verify/verify.ts'
import { allMachines } from '../../../src/families/machines.ts'
import { SEED, seeded } from '../../testkit/seed.ts'
import { soak } from '../../testkit/soak.ts'
import { lineOfRecord, randomLog, sealLines } from './sealed-log.ts'

/** Files come from anybody: whatever they hold, the command ends with a verdict, in words that a terminal may show. */

interface Files {
  readonly log: string
  readonly seals: string
  readonly machines: string
}

async function run(files: Files): Promise<{ readonly code: number; readonly said: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-'))
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    let said = ''
    const sink = { write: (text: string | Uint8Array) => (said += text) }
    const io = { stdout: sink, stderr: sink, stdin: process.stdin, env: {}, signal: new AbortController().signal }
    const options = { seals: join(folder, 'seals'), machines: [join(folder, 'machines')] }
    const code = await verify([join(folder, 'log')], options, { io: io as never, machines: allMachines })
    return { code, said: said.replaceAll(folder, '') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const RANDOM = seeded()
const LINES = randomLog(RANDOM, 40).map(lineOfRecord)
const SEALS = sealLines(LINES, [{ through: 40 }], { random: RANDOM }).map((seal) => JSON.stringify(seal))
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
const HONEST: Files = { log: textOf(LINES), seals: textOf(SEALS), machines: JSON.stringify(allMachines) }

/** Another value in some place of it. */
function edited(value: unknown, path: readonly number[], by: unknown): unknown {
  const [at = 0, ...rest] = path
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return by
  const keys = Object.keys(value)
  const key = keys[at % keys.length] as keyof typeof value
  const changed = rest.length === 0 ? by : edited(value[key], rest, by)
  return Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed }
}
const STRANGE = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(-1, 2 ** 31, 2 ** 32 + 1, 2 ** 53, 1e308, '\u001b[31mred', '__proto__', 'x'.repeat(5_000)),
)
const PATH = fc.array(fc.nat(50), { minLength: 1, maxLength: 4 })
const lineEdited = (lines: readonly string[]) =>
  fc
    .tuple(fc.nat(lines.length - 1), PATH, STRANGE)
    .map(([at, path, by]) => textOf(lines.with(at, JSON.stringify(edited(JSON.parse(lines[at] ?? ''), path, by)))))
const HOSTILE: fc.Arbitrary<Files> = fc.oneof(
  lineEdited(LINES).map((log) => ({ ...HONEST, log })),
  lineEdited(SEALS).map((seals) => ({ ...HONEST, seals })),
  fc.tuple(PATH, STRANGE).map(([path, by]) => ({ ...HONEST, machines: JSON.stringify(edited(allMachines, path, by)) })),
  fc.string({ unit: 'binary' }).map((log) => ({ ...HONEST, log })),
  fc.jsonValue().map((value) => ({ ...HONEST, machines: JSON.stringify(value) })),
)

test('whatever the files hold, there is a verdict, or the file is refused', async () => {
  expect(await run(HONEST)).toMatchObject({ code: 0 })
  await fc.assert(
    fc.asyncProperty(HOSTILE, async (files) => {
      const { code, said } = await run(files)
      expect([0, 1, 2]).toContain(code)
      expect(said).toMatch(/^[^\p{Cc}]+\n(?:[^\p{Cc}]+\n)*$/u)
      expect(said.length).toBeLessThan(2_000)
    }),
    { seed: SEED, numRuns: soak(300, 20_000) },
  )
})

test.each(['log', 'seals'])('a line of the %s that has no end takes no memory', async (file) => {
  const { code, said } = await run({ ...HONEST, [file]: 'x'.repeat(40 * 2 ** 20) })
  expect(code).toBe(file === 'log' ? 1 : 2)
  expect(said).toContain('longer than')
})
