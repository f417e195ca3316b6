import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine } from './command.ts'

let server: ReachableServer
let phaseline: CommandLine
/** The same by somebody else. */
let bob: CommandLine
beforeAll(async () => {
  server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const { secret } = await ask(server.client, MUTATIONS.createToken, { name: 'bob', role: 'USER' })
  bob = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: secret })
})
afterAll(() => server?.[Symbol.asyncDispose]())

const gate = (name: string, config: object) => ({ name, type: 'gate', config })
const apply = (name: string, ...deployItems: readonly object[]) =>
  phaseline('apply -f - --wait', { stdin: JSON.stringify({ name, spec: { deployItems } }) })
const ended = (name: string, phase: string) =>
  until(async () => (await phaseline(`get ${name}`)).out.match(new RegExp(`phase +\\S+ ${phase}`)), {
    what: `${name} is ${phase}`,
  })

it('a gate waits for people, whom status and --wait name', async () => {
  const plan = await phaseline('plan -f -', {
    stdin: JSON.stringify({ name: 'shop', spec: { deployItems: [gate('go', { approval: {} })] } }),
  })
  expect(plan).toMatchObject({ code: 0, out: expect.not.stringContaining('agent') })
  const applied = await apply('shop', gate('go', { approval: { count: 2 }, message: 'Ship it?' }))
  expect(applied).toMatchObject({ code: 5, out: expect.stringContaining('Waits for 2 approvals. Ship it?') })
  // The command can be copied. The gate has its line, and the root has one.
  const [, how = ''] = /Approve: phaseline (approve \S+)/.exec(applied.out) ?? []
  expect(applied.out.match(/○ .*Waits for 2 approvals/g)).toEqual([
    expect.stringContaining('○ shop shop/deploy-items/go: Waits'),
    expect.stringContaining('○ shop/deploy-items/go Waits'),
  ])
  expect((await phaseline('status')).out).toMatch(
    /default\/shop\/deploy-items\/go \(deploy item\) for .*: Waits for 2 approvals\. Ship it\? \(Approve, or Reject\)/,
  )
  expect(await phaseline('approve shop')).toMatchObject({
    code: 3,
    err: expect.stringContaining('somebody else has to approve it'),
  })
  expect(await bob(`${how} --comment Tested`)).toMatchObject({ code: 0, out: 'go has 1 of 2 approvals: bob\n' })
  expect((await phaseline('get shop/deploy-items/go')).out).toContain('approved by bob')
  expect(await bob('reject shop/deploy-items/go --comment Later')).toMatchObject({
    code: 0,
    out: 'go is rejected\n',
  })
  await ended('shop', 'FAILED')
  expect((await phaseline('get --failed')).out).toContain('Rejected by bob: Later')
  expect(await bob('approve shop')).toMatchObject({
    code: 2,
    err: expect.stringContaining('No gate in shop waits for people.'),
  })
})

it('of several gates one is named, and a signal opens one with what it brings', async () => {
  await apply('two', gate('a', { approval: {} }), gate('b', { approval: {} }))
  expect(await bob('approve two')).toMatchObject({
    code: 2,
    err: expect.stringContaining('name one of two/deploy-items/a, two/deploy-items/b'),
  })
  for (const name of ['a', 'b'])
    expect(await bob(`approve two/deploy-items/${name}`)).toMatchObject({ code: 0, out: `${name} is approved\n` })
  await ended('two', 'SUCCEEDED')

  await phaseline('apply -f -', {
    stdin: JSON.stringify({
      name: 'tested',
      spec: {
        deployItems: [
          gate('tests', { signal: 'done' }),
          { ...gate('after', { until: '2026-01-01T00:00:00Z' }), dependsOn: ['tests'] },
        ],
      },
    }),
  })
  const item = 'tested/deploy-items/tests'
  await until(async () => (await phaseline(`get ${item}`)).out.includes('Waits for the signal done.'), {
    what: 'it waits',
  })
  // An item that depends on it is not another cause.
  expect((await phaseline('status')).out).toMatch(/stuck {3}1 wait/)
  expect(await phaseline(`signal ${item} other`)).toMatchObject({
    code: 3,
    err: expect.stringContaining('Waits for the signal done.'),
  })
  expect(await phaseline('signal tested other')).toMatchObject({
    code: 2,
    err: expect.stringContaining('No gate in tested waits for the signal other.'),
  })
  expect(await phaseline(`signal ${item} done {`)).toMatchObject({
    code: 2,
    err: expect.stringContaining('The object'),
  })
  expect(await phaseline('signal tested done -f -', { stdin: '{"passed":12}' })).toMatchObject({
    code: 0,
    out: 'tests has the signal done\n',
  })
  await ended('tested', 'SUCCEEDED')
  expect((await phaseline(`get ${item}`)).out).toContain('12')
})

it('a deletion of what waits at a gate needs no cancel, and says so', async () => {
  await apply('unwanted', gate('go', { approval: {} }))
  expect((await phaseline('delete unwanted --yes')).err).toBe(
    'Its deletion begins once the running job has ended. Its gates end by themselves. To end that job sooner: phaseline cancel unwanted\n',
  )
  await until(async () => (await phaseline('get unwanted')).code === 3, { what: 'it is gone' })
})

it('a worker waits for people, too, and its event is enough as a name', async () => {
  const stdin =
    'kind: Project\nname: web\nworkerTemplate: { command: ["true"], gate: { approval: {}, message: Build it?, timeout: 2h } }\n'
  expect(await phaseline('apply -f -', { stdin })).toMatchObject({ code: 0 })
  expect((await phaseline('export --project web')).out).toContain('approval: {}')
  expect(await phaseline('event create --project web --source s --type push')).toMatchObject({ code: 0 })
  expect((await phaseline('event get web/event-1')).out).toContain('Waits for an approval. Build it?')
  expect((await phaseline('status --project web')).out).toMatch(
    /web\/event-1\/worker \(worker\) for .*: Waits for an approval\. Build it\?/,
  )
  expect(await phaseline('approve web/event-1')).toMatchObject({
    code: 3,
    err: expect.stringContaining('somebody else'),
  })
  expect(await bob('approve web/event-1')).toMatchObject({ code: 0, out: 'worker is approved\n' })
  await until(async () => (await phaseline('get web/event-1')).out.includes('STARTING'), { what: 'it starts' })
})
