import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { pruneStep } from '../../src/log/prune.ts'
import { parseSeal } from '../../src/seal/seal.ts'
import { startTestApp } from '../testkit/app.ts'
import { gql } from '../testkit/gql.ts'
import { copyDatabase, createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'
import { commandLine } from './command.ts'

/** An archive of a server that was restarted, restored and pruned, as a stranger verifies it: all by commands. */

const HEAD = gql('{ log { head } }')

test('a stranger verifies an archive: its present history, and gaps that are said', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'archived-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = (name: string) => join(folder, name)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  await writeFile(file('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(file('pub.pem'), publicKey.export({ type: 'spki', format: 'pem' }))
  const database = async (made: Promise<TestDatabase>) => {
    const db = await made
    onTestFinished(() => db[Symbol.asyncDispose]())
    return db
  }
  const serve = async (db: TestDatabase) => {
    const server = await startTestApp({ env: { DATABASE_URL: db.url, PHASELINE_SEAL_KEY_FILE: file('key.pem') } })
    onTestFinished(() => server[Symbol.asyncDispose]())
    const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
    const keep = (to: string) => phaseline(`seals --to ${file(to)} --key ${file('pub.pem')}`)
    /** Works, keeps the seals of it, and archives it. */
    const work = async (
      name: string,
      { to, isArchived = true }: { readonly to: string; readonly isArchived?: boolean },
    ) => {
      const spec = { deployItems: [{ name: 'item', type: 'mock', config: {} }] }
      expect(await phaseline('apply -f - --wait', { stdin: JSON.stringify({ name, spec }) })).toMatchObject({ code: 0 })
      const head = (await server.client.query(HEAD)).log?.head ?? 0
      // An engine seals at once when the time of a test moves.
      server.app.timeMoved()
      await until(
        async () => {
          expect(await keep(to)).toMatchObject({ code: 0 })
          const seals = (await readFile(file(to), 'utf8')).trim().split('\n')
          return (parseSeal(seals.at(-1) ?? '')?.last ?? 0) >= head
        },
        { what: `${head} is sealed` },
      )
      if (isArchived) expect(await phaseline(`archive ${file('archive')}`)).toMatchObject({ code: 0 })
      return head
    }
    return { server, keep, work, phaseline }
  }
  const stranger = (rest: string) =>
    commandLine({})(
      `verify ${file('archive/log')} --key ${file('pub.pem')} --machines ${file('machines.json')} ${rest}`,
    )

  const original = await database(createTestDatabase())
  const first = await serve(original)
  await first.work('one', { to: 'lost' })
  await first.server[Symbol.asyncDispose]()
  const restarted = await serve(original)
  await writeFile(file('machines.json'), (await restarted.phaseline('machines --json')).out)
  const common = await restarted.work('two', { to: 'lost' })
  await writeFile(file('seals'), await readFile(file('lost')))
  expect(await stranger(`--seals ${file('seals')}`)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`The changes 1 to ${common} are complete`) as string,
  })

  const copy = await database(copyDatabase(original))
  await restarted.work('three', { to: 'lost' })
  await restarted.server[Symbol.asyncDispose]()
  const restored = await serve(copy)
  const again = await restored.work('four', { to: 'seals' })
  expect(await restored.keep('lost')).toMatchObject({
    code: 1,
    out: expect.stringContaining('restored or failed over') as string,
  })
  expect(await readdir(file('archive/log'))).toContainEqual(expect.stringMatching(/^002-.*-restored\.json$/))
  const verdict = `--seals ${file('seals')} --heads ${file('seals')}`
  const whole = await stranger(verdict)
  expect(whole).toMatchObject({ code: 0, err: '' })
  expect(whole.out).toContain(`The changes 1 to ${again} are complete`)
  expect(whole.out).toContain('all histories agree up to')
  expect(await stranger(`--seals ${file('seals')} --heads ${file('lost')}`)).toMatchObject({
    code: 1,
    out: expect.stringContaining(`At ${common + 1}: `) as string,
  })

  await restored.work('five', { to: 'seals', isArchived: false })
  while ((await pruneStep(copy.pool, { before: new Date(), secondaryMachines: [] })) !== 'done');
  const end = await restored.work('six', { to: 'seals' })
  const names = await readdir(file('archive/log'))
  expect(names).toContainEqual(expect.stringMatching(/^002-.*-pruned\.json$/))
  const gap = await stranger(verdict)
  expect(gap).toMatchObject({ code: 0, err: '' })
  expect(gap.out).toContain(`The changes 1 to ${end} are`)
  expect(gap.out).toMatch(new RegExp(`^${again + 1} to \\d+ were pruned before they were archived`, 'm'))
  // A file that nobody pruned is missing.
  const second = names.filter((name) => name.startsWith('001-')).toSorted()[1] ?? ''
  await rm(file(`archive/log/${second}`))
  expect(await stranger(verdict)).toMatchObject({
    code: 1,
    out: expect.stringContaining('A change was removed') as string,
  })
})
