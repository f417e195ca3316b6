import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identityOf } from '../../src/process/identity.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine } from './command.ts'

let stack: AsyncDisposableStack
let server: ReachableServer
let phaseline: CommandLine
let tokenFile: string

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
  phaseline = commandLine({ PHASELINE_URL: server.url })
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-agent-')), (path) => rm(path, { recursive: true }))
  tokenFile = join(folder, 'token')
  const input = { name: 'beside', role: 'AGENT', actor: 'DEPLOYER', types: ['mock'] } as const
  await writeFile(tokenFile, (await ask(server.client, MUTATIONS.createToken, input)).secret)
})
afterAll(() => stack.disposeAsync())

it('does work beside the server until it is told to end', async () => {
  const user = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const manifest = { name: 'shop', spec: { deployItems: [{ name: 'db', type: 'mock', config: {} }] } }
  expect(await user('apply -f -', { stdin: JSON.stringify(manifest) })).toMatchObject({ code: 0 })

  await using agent = phaseline.spawn(`agent --types mock --instance beside --token-file ${tokenFile}`)
  expect(await user('watch shop')).toMatchObject({ code: 0, out: expect.stringContaining('shop succeeded') })
  expect((await user('log shop')).out).toContain('DEPLOYER beside')
  expect(agent.err()).toBe(`beside works on mock for ${server.url}. Ctrl-C ends it.\n`)
  agent.kill('SIGTERM')
  expect(await agent.exit).toBe(0)
})

it('says plainly what is wrong with its options, and of its types which options they have', async () => {
  expect(await phaseline('agent')).toMatchObject({ code: 2, err: expect.stringContaining('needs --types') })
  expect(await phaseline('agent --types moc')).toMatchObject({
    ...{ code: 2, err: expect.stringMatching(/no built-in agent for moc: there are mock, /) },
  })
  expect(await phaseline('agent --types mock')).toMatchObject({ code: 2, err: expect.stringContaining('--token-file') })
  expect(await phaseline('agent --types mock --pulll x')).toMatchObject({ code: 2 })
  expect(await phaseline(`agent --types container --token-file ${tokenFile} --pull often`)).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('--pull') },
  })
  expect(await phaseline(`agent --types helm --token-file ${tokenFile} --helm /none/helm`)).toMatchObject({
    ...{ code: 2, err: expect.stringMatching(/^This agent needs the program helm/) },
  })
  const { out } = await phaseline('agent --help')
  expect(out).toMatch(/container-deployer +deploy items of type container.*\n +--engine /)
})

it('says once, not with each try, that the server cannot be reached', async () => {
  const env = { PHASELINE_URL: 'http://127.0.0.1:1/graphql' }
  await using agent = commandLine(env).spawn(`agent --types mock --token-file ${tokenFile}`)
  await until(() => agent.err().includes('ECONNREFUSED'), { what: 'it has tried' })
  expect(agent.err()).toMatch(
    /^\S+ works on mock for \S+ Ctrl-C ends it\.\nAgent of mock: claim failed: connect ECONNREFUSED 127.0.0.1:1\n$/,
  )
})

it('ends when its token is refused, or lacks the right, and says so once', async () => {
  const started = String.raw`^\S+ works on mock for \S+ Ctrl-C ends it\.\n`
  const as = (token: string) =>
    phaseline('agent --types mock', { env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: token } })
  expect(await as('not-one-that-anybody-has-made')).toMatchObject({
    code: 4,
    err: expect.stringMatching(new RegExp(`${started}Not authorised: .*\n$`)),
  })
  const { secret } = await ask(server.client, MUTATIONS.createToken, { name: 'reader', role: 'READER' })
  expect(await as(secret)).toMatchObject({
    code: 3,
    err: expect.stringMatching(new RegExp(`${started}FORBIDDEN: reader may not claim work: .*\n$`)),
  })
})

it('ends with the shell of npx, which is all that npx ends', async () => {
  const main = join(import.meta.dirname, '../../src/cli/main.ts')
  const line = `"$0" "${main}" agent --types mock --token-file ${tokenFile} & echo $!; wait`
  const env = { ...process.env, npm_lifecycle_event: 'npx', PHASELINE_URL: server.url }
  const shell = spawn('sh', ['-c', line, process.execPath], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  shell.stdout.on('data', (chunk) => (out += chunk))
  shell.stderr.on('data', (chunk) => (err += chunk))
  await until(() => err.includes('works on mock'), { what: 'it works' })
  const pid = Number(out)
  shell.kill('SIGKILL')
  await until(async () => (await identityOf(pid)) === null, { what: 'it has ended' })
})
