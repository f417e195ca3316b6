import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { MOST_AGAIN } from '../scripts/judge-run.ts'
import { runTwice } from '../scripts/run-twice.ts'

/** Planted tests, in a project of their own, run by vitest as `npm test` runs the real ones. */

const CONFIG = 'export default { test: { globals: true, pool: "forks", isolate: false, maxWorkers: 1 } }'
const FAILS = "test('fails', () => { throw new Error('as always') })"
/** True in the first run of the file only. */
const IS_FIRST =
  "const { existsSync, writeFileSync } = process.getBuiltinModule('node:fs'); const isFirst = !existsSync('ran'); writeFileSync('ran', '');"

async function runPlanted(
  files: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<{ isGreen: boolean; lines: readonly unknown[] }> {
  const cwd = mkdtempSync(join(tmpdir(), 'phaseline-planted-'))
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  try {
    writeFileSync(join(cwd, 'vitest.config.mjs'), CONFIG)
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, `${name}.test.mjs`), text)
    const isGreen = await runTwice([], { cwd, more, output: 'ignore' })
    // The first line is the table of the longest files.
    return { isGreen, lines: log.mock.calls.slice(1).map(([line]) => line) }
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}
afterEach(() => {
  vi.restoreAllMocks()
})

test('a test that always fails is red', async () => {
  expect(await runPlanted({ a: FAILS })).toEqual({
    isGreen: false,
    lines: ['Red twice: a.test.mjs > fails: as always'],
  })
})

test('a test that fails the first time is green, and a line says so', async () => {
  const text = `${IS_FIRST} test('is a flake', () => { if (isFirst) throw new Error('once') })`
  expect(await runPlanted({ a: text })).toEqual({ isGreen: true, lines: ['Flaky: a.test.mjs > is a flake: once'] })
})

test('what a test that fails the first time leaves unhandled is flaky, too', async () => {
  const leak = "void Promise.reject(new Error('later')); throw new Error('once')"
  const text = `${IS_FIRST} test('is a flake', async () => { if (isFirst) { ${leak} } })`
  expect(await runPlanted({ a: text })).toEqual({ isGreen: true, lines: ['Flaky: a.test.mjs > is a flake: once'] })
})

test('a red file of those that were named runs again without the others', async () => {
  const red = `${IS_FIRST} test('is a flake', () => { if (isFirst) throw new Error('once') })`
  const green = `${IS_FIRST.replaceAll("'ran'", "'ran too'")} test('runs once', () => expect(isFirst).toBe(true))`
  expect(await runPlanted({ a: red, b: green }, ['a.test.mjs', 'b.test.mjs'])).toEqual({
    isGreen: true,
    lines: ['Flaky: a.test.mjs > is a flake: once'],
  })
})

test('a test that fails only after its neighbour is red', async () => {
  const text =
    "test('goes first', () => { globalThis.dirty = true }); test('goes second', () => expect(globalThis.dirty).toBe(undefined))"
  expect(await runPlanted({ a: text })).toMatchObject({
    isGreen: false,
    lines: [expect.stringMatching(/^Red twice: a.test.mjs > goes second: /)],
  })
})

test('an unhandled error beside green tests is red', async () => {
  const text =
    "test('is green', async () => { void Promise.reject(new Error('later')); await new Promise(setImmediate) })"
  expect(await runPlanted({ a: text })).toEqual({
    isGreen: false,
    lines: ['Red: an unhandled error in a.test.mjs: later'],
  })
})

test('more red files than can be an accident are red at once', async () => {
  const names = Array.from({ length: MOST_AGAIN + 1 }, (_, index) => `a${index}`)
  const planted = Object.fromEntries(names.map((name) => [name, FAILS]))
  expect(await runPlanted(planted)).toEqual({ isGreen: false, lines: ['Red: 6 red files'] })
})

test('a second run that runs nothing is red', async () => {
  const text = `${IS_FIRST} test.skipIf(!isFirst)('fails', () => { throw new Error('once') }); test('passes', () => {})`
  expect(await runPlanted({ a: text })).toEqual({ isGreen: false, lines: ['Red twice: a.test.mjs > fails: once'] })
})

test('a worker that crashes is red', async () => {
  expect(
    (await runPlanted({ a: "test('passes', () => {})", b: "test('ends', () => process.kill(process.pid, 'SIGKILL'))" }))
      .isGreen,
  ).toBe(false)
})
