import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { families } from '../../src/families/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { packagesOf, recording } from '../testkit/recorded-modules.ts'

/** A command starts fast if it loads little: the number of modules decides about most of its time. */

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')

async function loadedBy(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  await using recorded = await recording()
  const { PATH, HOME } = process.env
  await promisify(execFile)(process.execPath, [MAIN, ...args], { env: { PATH, HOME, ...env, ...recorded.env } })
  const modules = (await recorded.modules()).filter((url) => url.startsWith('file:'))
  const own = modules.filter((url) => url.includes('/src/')).map((url) => url.replace(/.*\/src\//, ''))
  return { own, packages: [...packagesOf(modules)].toSorted(), foreign: modules.length - own.length }
}

test.each(['--version', '--help'])('phaseline %s loads the tables of commands alone', async (word) => {
  const { own, packages } = await loadedBy([word])
  expect(packages).toEqual(['commander'])
  expect(own.length).toBeLessThan(70)
})

test('phaseline get loads what a list needs, and nothing of other commands, manifests and streams', async () => {
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  const { own, packages, foreign } = await loadedBy(['get'], {
    PHASELINE_URL: server.url,
    PHASELINE_TOKEN: server.token,
  })
  expect(own).toContain('cli/commands/get.ts')
  expect(own.filter((file) => /^(cli\/commands\/(?!get|index)|families\/\w+\/cli\/(?!index))/.test(file))).toEqual([])
  expect(packages).toEqual(['commander', 'graphql-ws'])
  expect(own.length).toBeLessThan(130)
  expect(foreign).toBeLessThan(20)
})

test('the help of the program is the same, whichever commands are loaded', async () => {
  const io = { stdout: { write: () => true }, stderr: { write: () => true } }
  const helpWith = async (words?: readonly string[]) =>
    (await createProgram({ io, exitCode: 0 } as never, families, words)).helpInformation()
  expect(await helpWith([])).toBe(await helpWith())
})
