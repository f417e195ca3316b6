import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, payloadOf } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { kubeconfig, PEM } from '../testkit/kubeconfig.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

const MARKER = 'c0nfid3ntial'
let stack: AsyncDisposableStack
let server: ReachableServer
let phaseline: CommandLine
let folder: string

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-target-')), (path) => rm(path, { recursive: true }))
})
afterAll(() => stack.disposeAsync())

const CLAIM = gql(`mutation ($input: ClaimWorkInput!) { answer: claimWork(input: $input) {
  ... on ClaimedWork { items { targetCredentials { secret } } } ... on Error { code message }
} }`)
/** The credentials of a target as a deployer gets them. */
async function credentialsOf(target: string): Promise<string | null | undefined> {
  const manifest = { name: `of-${target}`, spec: { deployItems: [{ name: 'it', type: 'played', target }] } }
  expect(await phaseline('apply -f -', { stdin: JSON.stringify(manifest) })).toMatchObject({ code: 0 })
  const agent = { name: `agent-${target}`, role: 'AGENT', actor: 'DEPLOYER' } as const
  const { secret } = await ask(server.client, MUTATIONS.createToken, agent)
  await using client = createClient({ url: server.url, token: secret })
  const input = { instance: 'it', types: ['played'], targets: [target], waitMs: 10_000 }
  const { items } = payloadOf((await client.query(CLAIM, { input })).answer)
  return items[0]?.targetCredentials?.secret
}

it('takes credentials from a file or a pipe, lists what can be read, and deletes', async () => {
  await writeFile(join(folder, 'password'), MARKER)
  const set = `target set box --type container --label region=eu --description Box --credentials ${join(folder, 'password')}`
  expect(await phaseline(set)).toEqual({ code: 0, out: 'default/box set\n', err: '' })
  expect(await credentialsOf('box')).toBe(MARKER)
  expect(await phaseline('target set box --credentials -', { stdin: `${MARKER}\n` })).toMatchObject({ code: 0 })
  expect((await phaseline('target list --type container --label region=eu')).out).toMatch(
    /^PROJECT +NAME +TYPE +LABELS +CREDENTIALS +AGENTS +INSTALLATIONS +SINCE\ndefault +box +container +region=eu +sealed +1 +1 +\S+\n$/,
  )
  const { out } = await phaseline('target get box')
  expect(out).toMatch(/description +Box\n/)
  expect(out).toMatch(/served by +agent-box it\n/)
  expect(out).toMatch(/used by +of-box \(1\)\n/)
  expect(out).toMatch(/generation +2\n/)
  expect(await phaseline('target set box --no-credentials')).toMatchObject({ code: 0 })
  const [shown] = documents((await phaseline('target get box --json')).out)
  expect(shown).toMatchObject({ name: 'box', hasCredentials: false, generation: 3 })
  expect(await phaseline('target delete box --yes')).toMatchObject({
    code: 3,
    err: expect.stringContaining('still has items'),
  })
  await phaseline('target set spare --type container')
  expect(await phaseline('target delete spare --yes')).toEqual({ code: 0, out: 'default/spare deleted\n', err: '' })
  expect(await phaseline('target get spare')).toMatchObject({ code: 3 })
})

it('imports one context of a kubeconfig with the files that it names, and nothing of the others', async () => {
  await writeFile(join(folder, 'ca.pem'), '-----BEGIN CERTIFICATE-----\nca\n')
  await writeFile(join(folder, 'token'), `${MARKER}\n`)
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'other' },
    clusters: [
      { name: 'eu', cluster: { server: 'https://eu.example', 'certificate-authority': 'ca.pem', extensions: [] } },
      { name: 'us', cluster: { server: 'https://us.example', 'insecure-skip-tls-verify': true } },
    ],
    users: [
      { name: 'ci', user: { tokenFile: 'token' } },
      { name: 'me', user: { exec: { command: 'aws' } } },
    ],
    contexts: [
      { name: 'ci@eu', context: { cluster: 'eu', user: 'ci', namespace: 'apps' } },
      { name: 'other', context: { cluster: 'eu', user: 'me' } },
      { name: 'unsafe', context: { cluster: 'us', user: 'ci' } },
    ],
  }
  const file = join(folder, 'config')
  await writeFile(file, JSON.stringify(config))
  const imported = await phaseline(`target import eu --kubeconfig ${file} --context ci@eu --label region=eu`)
  expect(imported).toEqual({ code: 0, out: 'default/eu set\n', err: '' })
  const flat = (await credentialsOf('eu')) ?? ''
  expect(flat).toContain(MARKER)
  expect(flat).toContain(Buffer.from('-----BEGIN CERTIFICATE-----\nca\n').toString('base64'))
  expect(flat).toContain('namespace: apps')
  expect(flat).not.toMatch(/aws|us\.example|ca\.pem|extensions/)

  const refused = (args: string, stdin = JSON.stringify(config)) =>
    phaseline(`target import no --kubeconfig - ${args}`.trim(), { stdin })
  expect(await refused('')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/user\.exec runs a program.*kubectl create token/s),
  })
  expect(await refused('--context nowhere')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no context nowhere'),
  })
  expect(await refused('--context unsafe')).toMatchObject({
    code: 2,
    err: expect.stringContaining('insecure-skip-tls-verify'),
  })
  expect(await refused('', '{')).toMatchObject({ code: 2, err: expect.stringContaining('not valid YAML') })
  const missing = kubeconfig({ user: { token: undefined, 'client-key': '/nowhere', 'client-certificate-data': PEM } })
  expect(await refused('', missing)).toMatchObject({
    code: 2,
    err: expect.stringContaining('client-key cannot be read'),
  })
  expect(await refused('', kubeconfig({ token: MARKER }))).toMatchObject({ code: 0 })
  expect((await phaseline('target list')).out).toMatch(/^default +eu +kubernetes +region=eu +sealed/m)
})

it('never shows credentials', () => {
  expect(phaseline.transcript()).not.toContain(MARKER)
  expect(server.output()).not.toContain(MARKER)
})

it('a plan says that an item without exactly one target would fail, and not that it would wait', async () => {
  for (const name of ['one', 'two']) await phaseline(`target set ${name} --type twin`)
  const spec = { deployItems: [{ name: 'it', type: 'played', targetSelector: { type: 'twin' } }] }
  const { out } = await phaseline('plan -f -', { stdin: JSON.stringify({ name: 'unsure', spec }) })
  expect(out).toContain(
    'As things are now, it would fail:\n○ unsure/deploy-items/it: Several targets of the project have type twin: one, two.\n',
  )
  expect(out).not.toContain('it would wait')
})
