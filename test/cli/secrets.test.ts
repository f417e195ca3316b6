import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { startTestApp } from '../testkit/app.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'
import { PLAYED, type PlayedRuntime, playRuntime } from './played-runtime.ts'

const TOKEN = 'the-command-lines-administrator'
const MARKER = 'c0nfid3ntial'

let stack: AsyncDisposableStack
let server: ReachableServer
let runtime: PlayedRuntime
let phaseline: CommandLine

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp({ token: TOKEN }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN })
  runtime = stack.use(await playRuntime(server))
  const manifest = { name: 'web', workerTemplate: { runtime: PLAYED, command: ['true'] } }
  expect(await phaseline('project apply -f -', { stdin: JSON.stringify(manifest) })).toMatchObject({ code: 0 })
})
afterAll(() => stack.disposeAsync())

/** Types at a terminal; `raw` records if the terminal shows the keys. */
async function typed(args: string, keys: readonly (string | Buffer)[]) {
  const raw: boolean[] = []
  let shown = ''
  const out = { write: (text: string) => (shown += text) }
  const code = await run(args.split(' '), {
    env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN },
    stdin: Object.assign(Readable.from(keys), { isTTY: true, setRawMode: (on: boolean) => raw.push(on) }),
    ...{ stdout: out, stderr: out, signal: new AbortController().signal },
  })
  return { code, raw, shown }
}
async function secretsOfNextEvent(): Promise<Readonly<Record<string, string>>> {
  const { out } = await phaseline('event create --source s --type t --project web --json')
  const name = /"event-\d+"/.exec(out)?.[0].slice(1, -1)
  return (await runtime.start(`web/${name}`)).config.secrets
}

it('takes values from a pipe, less the one line end that echo adds, and hands them to workers only', async () => {
  const set = await phaseline('secret set web PIPED', { stdin: `${MARKER}\nsecond line\n\n` })
  expect(set).toEqual({ code: 0, out: 'web/PIPED set\n', err: '' })
  expect(await phaseline('secret set web EXACT', { stdin: ` ${MARKER}\r\n` })).toMatchObject({ code: 0 })
  expect(await secretsOfNextEvent()).toEqual({ PIPED: `${MARKER}\nsecond line\n`, EXACT: ` ${MARKER}` })

  const [listed] = documents((await phaseline('secret list web --json')).out)
  expect(listed).toEqual({
    project: 'web',
    secrets: ['EXACT', 'PIPED'].map((name) => ({ name, updatedAt: expect.stringMatching(/^2.*Z$/) })),
  })
  expect((await phaseline('secret list web')).out).toMatch(/^NAME +SINCE\nEXACT +\S+\nPIPED +\S+\n$/)
  expect(await phaseline('secret delete web EXACT --yes')).toMatchObject({ code: 0, out: 'web/EXACT deleted\n' })
  expect(await phaseline('secret delete web EXACT --yes')).toMatchObject({ code: 3 })
  expect(await secretsOfNextEvent()).toEqual({ PIPED: `${MARKER}\nsecond line\n` })
})

it('takes them from a terminal that shows nothing, with what was typed wrong taken back', async () => {
  const umlaut = Buffer.from('ü')
  const keys = ['wrong\u0015c0nf', 'xy\u007f\u007fid3ntial', umlaut.subarray(0, 1), umlaut.subarray(1), '\r']
  const set = await typed('secret set web TYPED', keys)
  expect(set).toMatchObject({ code: 0, raw: [true, false] })
  expect(set.shown).toBe('Value of web/TYPED (not shown): \nweb/TYPED set\n')
  expect(await secretsOfNextEvent()).toMatchObject({ TYPED: `${MARKER}ü` })

  const interrupted = await typed('secret set web TYPED', ['other', '\u0003'])
  expect(interrupted).toMatchObject({ code: 130, raw: [true, false] })
  const pasted = await typed('secret set web TYPED', ['first\rsecond\r'])
  expect([pasted.code, pasted.shown]).toMatchObject([2, expect.stringContaining('pipe it')])
  expect(await secretsOfNextEvent()).toMatchObject({ TYPED: `${MARKER}ü` })
})

it('reseals what older keys have sealed, and lists the keys without one', async () => {
  const resealed = await phaseline('secret reseal')
  expect(resealed).toMatchObject({ code: 0, err: '' })
  expect(resealed.out).toMatch(/^0 resealed\nKEY +SEALED +IS\n[0-9a-f]{8} +[1-9]\d* +newest\n$/)
  const [listed] = documents((await phaseline('secret reseal --json')).out)
  expect(listed).toMatchObject({ resealed: 0, keys: [{ newest: true, known: true }] })
})

it('refuses what is no value, and never repeats one', async () => {
  const attempts: [string, string | undefined][] = [
    ['secret set web EMPTY', undefined],
    ['secret set web EMPTY', '\n'],
    ['secret set web 1wrong', MARKER],
    ['secret set web NUL', `${MARKER}\0`],
    ['secret set web LONG', MARKER.repeat(10_000)],
    [`secret set web ARGUMENT ${MARKER}`, undefined],
    [`secret set web OPTION --value=${MARKER}`, undefined],
  ]
  for (const [args, stdin] of attempts) {
    expect(await phaseline(args, stdin === undefined ? {} : { stdin }), args).toMatchObject({ code: 2, out: '' })
  }
  const missing = { code: 3, out: '', err: expect.stringContaining('There is no project nobodys that you may read.') }
  expect(await phaseline('secret set nobodys NAME', { stdin: MARKER })).toMatchObject(missing)
  expect(await phaseline('secret list nobodys')).toMatchObject({ code: 3 })
  expect((await phaseline('secret list web')).out).not.toMatch(/EMPTY|wrong|NUL|LONG|ARGUMENT|OPTION/)
  expect(phaseline.transcript()).not.toContain(MARKER)
  expect(server.output()).not.toContain(MARKER)
})

describe('tokens', () => {
  it('are created, used, listed and revoked; the secret is alone on standard output', async () => {
    const created = await phaseline('token create mine --role agent --type my-type,other --project web --expires 90d')
    const secret = created.out.trim()
    expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^[\w-]{32,}\n$/) })
    expect(created.err).toMatch(
      /^mine created for the role agent \(id \S+\)\. It expires at .* cannot be shown again:\n$/,
    )
    expect(created.err).not.toContain(secret)
    const quiet = await phaseline('token create reads --role reader --quiet')
    expect(quiet).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^[\w-]{32,}\n$/) })
    const who = (token: string) => phaseline('whoami', { env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: token } })
    expect((await who(secret)).out).toContain('mine')

    const { out } = await phaseline('token list')
    expect(out).toMatch(/^mine +agent \(deployer\) +my-type, other +web +\d+\S* ago +in (?:89d 23h|90d 00h) +\S+$/m)
    expect(out).toMatch(/^reads +reader +all +never +never +\S+$/m)
    expect(out).not.toContain(secret)

    expect(await phaseline('token revoke mine')).toMatchObject({
      code: 0,
      out: expect.stringContaining('mine revoked'),
    })
    await until(async () => (await who(secret)).code === 4, { what: 'the token is refused' })
    expect((await phaseline('token list')).out).not.toMatch(/^mine/m)
    expect((await phaseline('token list --all')).out).toMatch(/^mine .* revoked +\S+$/m)
    expect(await phaseline('token revoke mine')).toMatchObject({ code: 3, err: expect.stringContaining('token list') })
    await phaseline('token create reads --role reader -q')
    expect(await phaseline('token revoke reads')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Give the id: '),
    })
    expect(await phaseline('token create x --role worker')).toMatchObject({ code: 2, out: '' })
    // A client that has lost the first answer repeats the request, and there is still one token.
    for (let i = 0; i < 2; i++)
      expect(await phaseline('token create once --role user --key 1')).toMatchObject({ code: 0 })
    expect((await phaseline('token list -o name')).out.split('\n').filter((name) => name === 'once')).toHaveLength(1)
  })

  it('go into a new file that only its owner reads, or leave none behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'phaseline-secret-file-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'token')
    const created = await phaseline(`token create filed --role reader --secret-file ${file}`)
    expect(created).toMatchObject({ code: 0, out: '', err: expect.stringContaining(`Its secret is in ${file}.`) })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const env = { PHASELINE_URL: server.url, PHASELINE_TOKEN_FILE: file, PHASELINE_TOKEN: '' }
    expect((await phaseline('whoami', { env })).out).toContain('filed')
    const again = await phaseline(`token create filed --role reader --secret-file ${file}`)
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining('exists: name a new file') })
    const refused = join(folder, 'refused')
    expect(
      await phaseline(`token create x --role reader --project nobodys --secret-file ${refused}`),
    ).not.toMatchObject({ code: 0 })
    expect(await readdir(folder)).toEqual(['token'])
    const json = await phaseline(`token create other --role reader --json --secret-file ${refused}`)
    expect(documents(json.out)[0]).not.toHaveProperty('secret')
  })

  it('that are wrong are told so, and not that one is missing', async () => {
    const env = { PHASELINE_URL: server.url, PHASELINE_TOKEN: 'nobodys-token' }
    const { err } = await phaseline('get', { env })
    expect(err).toContain('This token is not known, expired or revoked')
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect(await answer.text()).toContain('A token is required')
  })
})

describe('the command line', () => {
  it('takes its global options before the command, too, and prints YAML, names, and wide tables', async () => {
    expect(documents((await phaseline('--json token list')).out)[0]).toHaveProperty('tokens')
    expect(documents((await phaseline('token -o json list')).out)[0]).toHaveProperty('tokens')
    const elsewhere = await phaseline('--url=http://127.0.0.1:1/graphql get')
    expect(elsewhere).toMatchObject({ code: 4, err: expect.stringContaining('Cannot reach the server') })
    expect((await phaseline('project list -o yaml')).out).toMatch(/^---\ntotalCount: 2\nprojects:\n/)
    expect((await phaseline('project list -o name')).out).toBe('default\nweb\n')
    expect(await phaseline('project list -o xml')).toMatchObject({ code: 2, out: '' })
  })

  it('asks at a terminal before it deletes', async () => {
    const manifest = JSON.stringify({ name: 'asked', spec: {} })
    expect(await phaseline('apply -f - --wait', { stdin: manifest })).toMatchObject({ code: 0, err: '' })
    const no = await typed('delete asked', ['n\n'])
    expect(no).toMatchObject({
      code: 130,
      shown: 'Delete installation default/asked and everything beneath it? [y/N] ',
    })
    expect((await phaseline('get asked')).code).toBe(0)
    expect(await typed('delete asked --wait --yes', [])).toMatchObject({ code: 0 })
    expect((await phaseline('get asked')).code).toBe(3)
  })

  it('lists agents that are connected', async () => {
    const { out } = await phaseline('agents')
    expect(out).toMatch(/^NAME +INSTANCE +ROLE +TYPES +TARGETS +SEEN\n/)
    expect(out.split('\n').find((line) => line.includes(` ${PLAYED} `))).toMatch(
      / runtime .* connected, [\d.]+m?s ago$/,
    )
  })

  it('completes commands and options in bash', async () => {
    const { out: script } = await phaseline('completion bash')
    const complete = async (...words: readonly string[]) => {
      const line = words.map((word) => `'${word}'`).join(' ')
      const asked = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _phaseline; echo "\${COMPREPLY[@]}"`
      const { stdout } = await promisify(execFile)('bash', ['-c', `${script}\n${asked}`])
      return stdout.trim()
    }
    expect(await complete('phaseline', 'tok')).toBe('token')
    expect(await complete('phaseline', 'token', 'cr')).toBe('create')
    expect(await complete('phaseline', 'token', 'create', 'name', '--ex')).toBe('--expires')
    for (const shell of ['zsh', 'fish']) expect((await phaseline(`completion ${shell}`)).out).toContain('revoke')
    expect(await phaseline('completion tcsh')).toMatchObject({ code: 2, out: '' })
  })
})
