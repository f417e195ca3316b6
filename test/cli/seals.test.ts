import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockOf } from '../../src/cli/verify/keep-seals.ts'
import { lockFolder } from '../../src/process/folder-lock.ts'
import { Frontier } from '../../src/seal/merkle.ts'
import { type Seal, signSeal } from '../../src/seal/seal.ts'
import { startTestApp, type TestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine } from './command.ts'

/** A log that a server seals, and that a stranger verifies by commands. */

const KEY = generateKeyPairSync('ed25519')

let app: TestApp
let phaseline: CommandLine
let monitor: CommandLine
let folder: string
let file: (name: string) => string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'seals-'))
  file = (name) => join(folder, name)
  const key = KEY.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  await writeFile(file('key.pem'), key)
  await writeFile(file('pub.pem'), KEY.publicKey.export({ type: 'spki', format: 'pem' }))
  app = await startTestApp({ env: { PHASELINE_SEAL_KEY_FILE: file('key.pem'), PHASELINE_LOG_LEVEL: 'info' } })
  phaseline = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: app.token })
  const { secret } = await ask(app.client, MUTATIONS.createToken, { name: 'keeper', role: 'MONITOR' })
  monitor = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: secret ?? '' })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const SETTLED = gql('{ objects(filter: { finished: false }, first: 1) { totalCount } }')
const HEAD = gql('{ log { head } }')
/** Creates an installation, and waits until nothing is left to do; the last sequence. */
async function work(name: string): Promise<number> {
  const spec = { deployItems: [{ name: 'item', type: 'mock', config: {} }] }
  await ask(app.client, MUTATIONS.createInstallation, { name, spec })
  const isSettled = async () => (await app.client.query(SETTLED)).objects?.totalCount === 0
  await until(isSettled, { what: 'all is at rest' })
  return (await app.client.query(HEAD)).log?.head ?? 0
}
/** The file of seals, once they reach so far. */
async function sealedTo(head: number): Promise<readonly string[]> {
  // An engine seals at once when the time of a test moves.
  app.app.timeMoved()
  return await until(
    async () => {
      expect((await monitor(`seals --to ${file('kept')} --key ${file('pub.pem')}`)).code).toBe(0)
      const seals = (await readFile(file('kept'), 'utf8')).split('\n').filter(Boolean)
      const last = seals.at(-1)
      return last !== undefined && (JSON.parse(last) as { last: number }).last >= head ? seals : null
    },
    { what: `${head} is sealed` },
  )
}
async function exportLog(): Promise<void> {
  const headers = { authorization: `Bearer ${app.token}` }
  const response = await fetch(`${app.origin}/log?includeRejected=true&limit=1000`, { headers })
  await writeFile(file('log.ndjson'), await response.text())
}

test('a stranger with the export, the seals and the tables needs no server', async () => {
  const before = await sealedTo(await work('one'))
  const head = await work('two')
  const seals = await sealedTo(head)
  // The file grows by what is new.
  expect(seals.slice(0, before.length)).toEqual(before)
  expect((await monitor('seals')).out).toBe(seals.map((line) => `${line}\n`).join(''))
  expect(app.output()).toContain('The log is sealed')
  await exportLog()
  await writeFile(file('machines.json'), (await phaseline('machines --json')).out)
  const stranger = commandLine({})
  const rest = `--seals ${file('kept')} --heads ${file('kept')} --key ${file('pub.pem')} --machines ${file('machines.json')}`
  const found = await stranger(`verify ${file('log.ndjson')} ${rest}`)
  expect(found).toMatchObject({ code: 0, err: '' })
  expect(found.out).toContain(`The changes 1 to ${head} are complete, in order and legal`)
  expect(found.out).toContain(`They are as they were sealed, up to ${head} (seal ${seals.length}, root `)
  // Without a file of tables, with those of this version; of a folder its files.
  expect((await stranger(`verify ${folder} --seals ${file('kept')}`)).out).toContain('Signatures were not verified')
  expect((await stranger(`verify ${folder}`)).out).toContain('Nothing shows who has written them')

  const text = await readFile(file('log.ndjson'), 'utf8')
  await writeFile(file('forged.ndjson'), text.replace('"name":"two"', '"name":"six"'))
  const forged = await stranger(`verify ${file('forged.ndjson')} ${rest}`)
  expect(forged.code).toBe(1)
  expect(forged.out).toMatch(/^At \d+: the changes \d+ to \d+ are not those that were sealed\. A change was edited/)
  await rm(file('forged.ndjson'))
})

test('a file that is not what the server has sealed is not continued', async () => {
  const text = await readFile(file('kept'), 'utf8')
  const keep = async (kept: string) => {
    await writeFile(file('other'), kept)
    return await monitor(`seals --to ${file('other')} --key ${file('pub.pem')}`)
  }
  // The last line may have been cut by the end of a process.
  expect(await keep(text.slice(0, -20))).toMatchObject({ code: 0 })
  expect(await readFile(file('other'), 'utf8')).toBe(text)
  const [first = '', ...others] = text.split('\n')
  const leafOf = /"leaf":"(.)/.exec(first)?.[1] === '0' ? '1' : '0'
  const edited = await keep([first.replace(/"leaf":"./, `"leaf":"${leafOf}`), ...others].join('\n'))
  expect(edited).toMatchObject({
    code: 1,
    out: expect.stringContaining('the root of the seal 1 is not that of its leaves') as string,
  })
  // The server has lost its last seal.
  const last = JSON.parse(others.at(-2) ?? first) as Seal
  const more = { ...last, size: last.size + 1, first: last.last + 1, last: last.last + 1 }
  const tree = new Frontier()
  for (const line of text.trim().split('\n')) tree.append(Buffer.from((JSON.parse(line) as Seal).leaf, 'hex'))
  tree.append(Buffer.from(more.leaf, 'hex'))
  const { key: _, signature: __, ...head } = { ...more, root: tree.root() }
  const cut = await keep(`${text}${JSON.stringify(signSeal(head, KEY.privateKey))}\n`)
  expect(cut).toMatchObject({ code: 1, out: expect.stringContaining('does not have the seal') as string })
})

test('of two processes that keep one file, one is refused', async () => {
  const keep = () => monitor(`seals --to ${file('kept')} --key ${file('pub.pem')}`)
  // As another process holds it.
  const held = await lockFolder({ folder, prefix: lockOf(file('kept')), inUse: String })
  const message = expect.stringContaining(`The process ${process.pid} writes to ${file('kept')}.`) as string
  expect(await keep()).toMatchObject({ code: 3, err: message })
  expect(await monitor(`seals --to ${file('others')}`)).toMatchObject({ code: 0 })
  await held[Symbol.asyncDispose]()
  expect(await keep()).toMatchObject({ code: 0 })
})

test('what cannot be used is said, and what has failed has a code', async () => {
  const stranger = commandLine({})
  const log = file('log.ndjson')
  for (const [args, what] of [
    ['none.ndjson', 'none.ndjson'],
    [`${log} --seals ${log}`, 'has no seal in line 1'],
    [`${log} --key ${log}`, 'has no public Ed25519 key in PEM'],
    [`${log} --machines ${log}`, 'has no tables'],
  ] as const) {
    const { code, err } = await stranger(`verify ${args}`)
    expect([code, err]).toEqual([2, expect.stringContaining(what)])
  }
  const json = await stranger(`verify ${log} --seals ${file('kept')} --key ${file('pub.pem')} --json`)
  expect(JSON.parse(json.out)).toMatchObject({
    ok: true,
    problem: null,
    partial: 0,
    epochs: [{ epoch: 1, base: 0 }],
    lost: [],
  })
  const refused = await commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: 'wrong-token-of-nobody' })('seals')
  expect(refused.code).toBe(4)
})
