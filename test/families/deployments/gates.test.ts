import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { type Api, createApi } from '../../graphql/api.ts'
import { present } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import { viewerOf, viewerWith } from '../../testkit/viewers.ts'
import { addPrincipal, item, USER } from '../../testkit/world.ts'

/** Deploy items that people, a program or the clock end. */

const BOB = viewerOf('USER', { name: 'bob' })
const CAROL = viewerOf('USER', { name: 'carol' })
const DORA = viewerWith([{ role: 'ADMIN', projectId: null }], { name: 'dora' })
const ERIC = viewerOf('USER', { name: 'eric' })
const READER = viewerOf('READER', { name: 'rita' })
const HOUR = 3_600_000

let api: Api
beforeAll(async () => {
  api = await createApi()
  for (const viewer of [BOB, CAROL, DORA, ERIC, READER]) await addPrincipal(api.world.pool, viewer)
})
afterAll(() => api[Symbol.asyncDispose]())

const gate = (config: object, more: object = {}) => ({ name: 'go', type: 'gate', config, ...more })
/** build, then the gate, then ship. */
const specOf = (config: object, more: object = {}) => ({
  deployItems: [
    item('build'),
    { ...gate(config, more), dependsOn: ['build'] },
    item('ship', ['go'], { by: '${deployItems.go.exports}' }),
  ],
})
/** Creates the root, and works until its gate is closed. */
async function atGate(name: string, config: object, more: object = {}) {
  const id = await api.world.create(name, specOf(config, more))
  expect(await api.world.work()).toEqual(['build'])
  return { id, go: (await see(name)).id }
}
const see = (name: string, what = 'go') => api.world.see(name, 'deploy-items', what)

/** The phase of the gate afterwards, or the refusal. */
async function ask(
  mutation: 'approve' | 'reject' | 'signal',
  viewer: Viewer,
  input: { readonly id: string; [field: string]: unknown },
) {
  const { data, errors } = await api.execute(MUTATIONS[mutation].valueOf(), { input }, viewer)
  await api.world.settle()
  const answer = data?.answer ?? errors
  const { __typename, message } = present(answer) as { readonly __typename: string; readonly message?: string }
  if (message !== undefined) return `${__typename}: ${message}`
  return (await api.world.pool.query<{ phase: string }>('select phase from object where id = $1', [input.id])).rows[0]
    ?.phase
}

const SEEN = gql(`query ($id: ID!) { object(id: $id) {
  phase blockedBy { __typename reason message ... on GateBlocker { signal opensAt } ... on DecisionBlocker { verbs { name } } }
  deadlines { name to message expiresAt } verbs { name allowed why }
  ... on DeployItem { exports gate { message approvalsNeeded role approvals { by comment } signal signalSchema opensAt } }
  history(last: 2) { edges { node { from to by reason message } } }
} }`)
const seen = async (id: string, viewer = USER) => present((await api.query(SEEN, { id }, viewer)).object)
const UNDECIDED = gql('{ objects(filter: { undecided: true }) { edges { node { name } } } }')
const undecided = async () => present((await api.query(UNDECIDED, {})).objects).edges.map(({ node }) => node.name)

test('a gate waits for the approval of another person than its author', async () => {
  const { go } = await atGate('approved', { approval: {}, message: 'Ship it?' })
  expect(await seen(go, BOB)).toMatchObject({
    phase: 'INIT',
    blockedBy: [
      {
        reason: 'DECISION',
        message: 'Waits for an approval. Ship it?',
        verbs: [{ name: 'approve' }, { name: 'reject' }],
      },
    ],
    deadlines: [],
    history: { edges: [{}, { node: { to: 'INIT', reason: 'APPROVAL', message: 'Waits for an approval. Ship it?' } }] },
    gate: { message: 'Ship it?', approvalsNeeded: 1, approvals: [] },
  })
  const allowed = async (viewer: Viewer) =>
    (await seen(go, viewer)).verbs.flatMap(({ name, allowed: is }) => (is ? [name] : []))
  expect(await allowed(BOB)).toEqual(['approve', 'reject'])
  expect(await allowed(USER)).toEqual(['reject'])
  expect((await seen(go, USER)).verbs.find(({ name }) => name === 'approve')?.why).toBe(
    'You have written the spec, or asked for this job: somebody else has to approve it.',
  )
  expect(await allowed(READER)).toEqual([])
  expect((await seen((await see('approved', 'build')).id, BOB)).verbs.map(({ why }) => why)).toEqual(
    expect.arrayContaining(['It waits for no approval.']),
  )
  expect(await undecided()).toEqual(['go'])
  expect(await ask('approve', USER, { id: go })).toBe(
    'ForbiddenError: ada has written the spec, or asked for this job, so somebody else has to approve it.',
  )
  expect(await ask('approve', READER, { id: go })).toMatch(/^ForbiddenError: rita may not approve gate/)
  // No agent gets it.
  expect(await api.world.claim(10, undefined, ['gate'])).toEqual([])
  expect(await ask('approve', BOB, { id: go, comment: 'Looks good.' })).toBe('SUCCEEDED')
  expect(await seen(go)).toMatchObject({
    exports: { approvedBy: ['bob'] },
    blockedBy: [],
    history: { edges: [{}, { node: { to: 'SUCCEEDED', by: 'bob', message: 'Approved by bob: Looks good.' } }] },
  })
  expect(await undecided()).toEqual([])
  const [ship] = await api.world.claim()
  expect(ship).toMatchObject({ name: 'ship', config: { by: { approvedBy: ['bob'] } } })
  await api.world.report({ fence: ship?.fence ?? '', phase: 'SUCCEEDED' })
  expect(await api.world.see('approved')).toMatchObject({ phase: 'SUCCEEDED' })
  expect(await ask('approve', BOB, { id: go })).toBe(
    'TransitionError: It does not wait for an approval. It is SUCCEEDED.',
  )
})

test('two of three, of whom one has lost the right since, and one has approved twice', async () => {
  const { go } = await atGate('two', { approval: { count: 2 } })
  expect(await ask('approve', ERIC, { id: go })).toBe('INIT')
  expect(await ask('approve', ERIC, { id: go })).toBe('INIT')
  expect((await seen(go)).gate?.approvals).toEqual([{ by: 'eric', comment: null }])
  expect((await seen(go)).blockedBy[0]?.message).toBe('Waits for 2 approvals (approved by eric).')
  await api.world.pool.query('delete from principal_grant where principal_id = $1', [ERIC.principalId])
  expect(await ask('approve', CAROL, { id: go })).toBe('INIT')
  expect((await seen(go)).gate?.approvals.map(({ by }) => by)).toEqual(['carol'])
  expect(await ask('approve', DORA, { id: go })).toBe('SUCCEEDED')
  await api.world.work()
})
test('an approval may take a role', async () => {
  const { go } = await atGate('role', { approval: { role: 'ADMIN' } })
  expect(await ask('approve', BOB, { id: go })).toBe(
    'ForbiddenError: bob may not approve gate: it takes the role ADMIN in the project.',
  )
  expect(await ask('approve', DORA, { id: go })).toBe('SUCCEEDED')
  await api.world.work()
})

test('whoever has written the spec that the job uses is its author, and so is who asked for the job', async () => {
  const { id, go } = await atGate('authors', { approval: {} })
  await ask('approve', BOB, { id: go })
  await api.world.work()
  // Carol edits, and bob asks for one job more.
  const input = { id, spec: { ...specOf({ approval: {} }), exports: [{ name: 'x', value: 1 }] }, reconcile: false }
  await api.query(MUTATIONS.updateInstallation, { input } as never, CAROL)
  await api.query(MUTATIONS.reconcileInstallation, { input: { id } } as never, BOB)
  await api.world.settle()
  await api.world.work()
  expect(await ask('approve', BOB, { id: go })).toMatch(/^ForbiddenError: bob has written/)
  expect(await ask('approve', CAROL, { id: go })).toMatch(/^ForbiddenError: carol has written/)
  // An edit after the job has begun takes nothing from its author.
  await api.query(
    MUTATIONS.updateInstallation,
    { input: { id, spec: specOf({ approval: {} }), reconcile: false } } as never,
    DORA,
  )
  expect(await ask('approve', CAROL, { id: go })).toMatch(/^ForbiddenError: carol has written/)
  expect(await ask('approve', USER, { id: go })).toBe('SUCCEEDED')
  await api.world.work()
})

test('the author may approve where the gate says so', async () => {
  const { go } = await atGate('own', { approval: { authorMay: true } })
  expect(await ask('approve', USER, { id: go })).toBe('SUCCEEDED')
  await api.world.work()
})

test('a rejection ends the job', async () => {
  const { go } = await atGate('rejected', { approval: { count: 3 } })
  expect(await ask('reject', BOB, { id: go, comment: 'Not on a Friday' })).toBe('FAILED')
  expect(await see('rejected')).toMatchObject({
    error: { code: 'REJECTED', message: 'Rejected by bob: Not on a Friday' },
  })
  expect(await api.world.see('rejected')).toMatchObject({ phase: 'FAILED' })
  expect(await api.world.work()).toEqual([])
})

test('a gate opens at its time, or expires at the end of its pickup timeout', async () => {
  const { world } = api
  const at = (ms: number) => new Date(world.clock.fixedTime.getTime() + ms).toISOString()
  const until = at(2 * HOUR)
  const { go } = await atGate('timed', { until, message: 'After lunch.' }, { timeouts: { pickup: { ms: 3 * HOUR } } })
  expect(await seen(go)).toMatchObject({
    blockedBy: [
      {
        __typename: 'GateBlocker',
        reason: 'GATE',
        signal: null,
        opensAt: until,
        message: `Opens at ${until}. After lunch.`,
      },
    ],
    deadlines: [{ name: 'opening', to: 'SUCCEEDED', expiresAt: until, message: 'It opens.' }],
  })
  expect(await undecided()).toEqual([])
  world.clock.advance(2 * HOUR - 1)
  await world.settle()
  expect(await world.work()).toEqual([])
  world.clock.advance(1)
  await world.settle()
  expect(await world.work()).toEqual(['ship'])

  const { go: late } = await atGate('late', { approval: {} }, { timeouts: { pickup: { ms: HOUR } } })
  expect((await seen(late)).deadlines).toMatchObject([{ name: 'gate', to: 'FAILED' }])
  world.clock.advance(HOUR)
  await world.settle()
  expect(await see('late')).toMatchObject({ phase: 'FAILED', error: { code: 'GATE_EXPIRED' } })
  expect(await ask('approve', BOB, { id: late })).toMatch(/^TransitionError/)

  await world.create('past', specOf({ until: at(-1) }))
  expect(await world.work()).toEqual(['build', 'ship'])
})

test('a freeze keeps a gate closed by the clock of its place, also for an engine that comes late', async () => {
  const { world } = api
  // It is some hour of a day in January 2026; the freeze is its afternoon in Berlin, each day.
  const noon = (days: number) => new Date(Date.UTC(2026, 0, 3 + days, 12))
  world.clock.advance(noon(0).getTime() - world.clock.fixedTime.getTime())
  const freeze = { timeZone: 'Europe/Berlin', ranges: [{ from: '12:30', to: '18:00' }] }
  const { go } = await atGate('frozen', { freeze })
  const opensAt = '2026-01-03T17:00:00.000Z'
  expect(await seen(go)).toMatchObject({ blockedBy: [{ reason: 'GATE', opensAt, message: `Opens at ${opensAt}.` }] })
  // Nobody looks before the next afternoon.
  world.clock.advance(noon(1).getTime() - world.clock.fixedTime.getTime())
  await world.settle()
  expect((await seen(go)).blockedBy).toMatchObject([{ opensAt: '2026-01-04T17:00:00.000Z' }])
  world.clock.advance(5 * HOUR)
  await world.settle()
  expect(await world.work()).toEqual(['ship'])
  await world.create('open', specOf({ freeze: { ranges: [{ from: '01:00', to: '02:00' }] } }))
  expect(await world.work()).toEqual(['build', 'ship'])
})

test('a signal opens a gate, and brings its exports', async () => {
  const { go } = await atGate('signalled', { signal: 'smoke-test' })
  expect((await seen(go)).blockedBy).toMatchObject([
    { reason: 'GATE', signal: 'smoke-test', message: 'Waits for the signal smoke-test.' },
  ])
  expect(await ask('signal', BOB, { id: go, name: 'other' })).toBe(
    'TransitionError: It does not wait for the signal other. Waits for the signal smoke-test.',
  )
  expect(await ask('approve', BOB, { id: go })).toMatch(/^TransitionError: It does not wait for an approval/)
  expect(await ask('signal', READER, { id: go, name: 'smoke-test' })).toMatch(/^ForbiddenError/)
  expect(await ask('signal', BOB, { id: go, name: 'smoke-test', payload: [1] })).toMatch(
    /^InvalidInputError: .*must be an object/,
  )
  expect(await ask('signal', BOB, { id: go, name: 'smoke-test', payload: { passed: 12 } })).toBe('SUCCEEDED')
  const [ship] = await api.world.claim()
  expect(ship?.config).toEqual({ by: { passed: 12 } })
  await api.world.report({ fence: ship?.fence ?? '', phase: 'SUCCEEDED' })
})

test('a signal that does not satisfy the schema of the gate opens nothing', async () => {
  const schema = {
    type: 'object',
    required: ['passed'],
    properties: { passed: { type: 'integer', minimum: 10 } },
  }
  const { go } = await atGate('judged', { signal: 'smoke-test', schema })
  expect((await seen(go)).gate).toMatchObject({ signalSchema: schema })
  const send = (payload?: unknown) => ask('signal', BOB, { id: go, name: 'smoke-test', payload })
  expect(await send()).toMatch(/^InvalidInputError: .*payload.*required property "passed"/)
  expect(await send({ passed: 'all of them' })).toMatch(/^InvalidInputError: (?!.*all of them).*type "string"/)
  expect(await send({ passed: 9 })).toMatch(/^InvalidInputError: .*minimum/)
  expect(await seen(go)).toMatchObject({ phase: 'INIT', blockedBy: [{ reason: 'GATE' }] })
  // One that is refused can be sent again, and the answer to another one of its key stays what it was.
  const key = { id: go, name: 'smoke-test', idempotencyKey: 'once' }
  expect(await ask('signal', BOB, { ...key, payload: {} })).toMatch(/^InvalidInputError/)
  expect(await ask('signal', BOB, { ...key, payload: { passed: 12 } })).toBe('SUCCEEDED')
  expect(await ask('signal', BOB, { ...key, payload: { passed: 12 } })).toBe('SUCCEEDED')
  const [ship] = await api.world.claim()
  expect(ship?.config).toEqual({ by: { passed: 12 } })
  await api.world.report({ fence: ship?.fence ?? '', phase: 'SUCCEEDED' })
})

test('a cancel ends a gate at once, and a deletion asks no deployer for it', async () => {
  const { id, go } = await atGate('cancelled', { approval: {} })
  await api.world.cancel(id)
  expect(await see('cancelled')).toMatchObject({
    phase: 'ABORTED',
    error: { code: 'ABORTED', message: 'Cancelled by ada.' },
  })
  expect(await ask('approve', BOB, { id: go })).toMatch(/^TransitionError/)
  await api.world.remove(id)
  expect(await api.world.work()).toEqual(['build'])
  expect(await api.world.exists('cancelled')).toBe(false)
})

test('a gate does not outlive the failure of an item beside it', async () => {
  const { world } = api
  await world.create('beside', {
    deployItems: [
      item('build'),
      gate({ approval: {} }),
      gate({ signal: 'x' }, { name: 'other' }),
      item('ship', ['go']),
    ],
  })
  const [build] = await world.claim()
  const go = (await see('beside')).id
  await world.report({
    fence: build?.fence ?? '',
    phase: 'FAILED',
    error: { code: 'RED', message: 'Red.', retryable: false },
  })
  const aborted = { phase: 'ABORTED', error: { code: 'ABORTED', message: 'An item beside it has failed.' } }
  expect(await see('beside')).toMatchObject(aborted)
  expect(await see('beside', 'other')).toMatchObject(aborted)
  expect(await see('beside', 'ship')).toMatchObject({ phase: 'PENDING' })
  expect(await world.see('beside')).toMatchObject({ phase: 'FAILED' })
  expect(await ask('approve', BOB, { id: go })).toMatch(/^TransitionError/)
  expect(await undecided()).toEqual([])
})

test('a gate in another installation of the tree is asked on, for its items begin', async () => {
  const { world } = api
  const nested = (name: string, deployItems: readonly object[]) => ({ name, spec: { deployItems } })
  await world.create('apart', {
    installations: [nested('red', [item('build')]), nested('blue', [gate({ approval: {} }), item('ship', ['go'])])],
  } as never)
  const [build] = await world.claim()
  await world.report({
    fence: build?.fence ?? '',
    phase: 'FAILED',
    error: { code: 'RED', message: 'Red.', retryable: false },
  })
  const go = await world.see('apart', 'blue', 'deploy-items', 'go')
  expect(go).toMatchObject({ phase: 'INIT' })
  expect(await ask('approve', BOB, { id: go.id })).toBe('SUCCEEDED')
  expect(await world.work()).toEqual(['ship'])
  expect(await world.see('apart')).toMatchObject({ phase: 'FAILED' })
})

test('another job, and a deletion, do not wait for a decision', async () => {
  const { world } = api
  const { id, go } = await atGate('followed', { approval: {} })
  await world.reconcile(id)
  expect(await world.work()).toEqual(['build'])
  expect(await seen(go)).toMatchObject({
    phase: 'INIT',
    history: {
      edges: [{ node: { to: 'ABORTED', message: 'Its job is to be followed by another.' } }, { node: { to: 'INIT' } }],
    },
  })
  await world.remove(id)
  expect(await world.work()).toEqual(['build'])
  expect(await world.exists('followed')).toBe(false)
})

test('IF_CHANGED keeps a gate that was opened, and any other job asks again', async () => {
  const { id, go } = await atGate('again', { approval: {} })
  await ask('approve', BOB, { id: go })
  await api.world.work()
  await api.world.reconcile(id, 'IF_CHANGED')
  expect(await api.world.work()).toEqual([])
  expect(await api.world.see('again')).toMatchObject({ phase: 'SUCCEEDED' })
  await api.world.reconcile(id)
  expect(await api.world.work()).toEqual(['build'])
  expect(await seen(go)).toMatchObject({ phase: 'INIT', gate: { approvals: [] } })
  await ask('approve', BOB, { id: go })
  await api.world.work()
})

test('a paused tree keeps its gates, and begins nothing behind them', async () => {
  const { id, go } = await atGate('paused', { approval: {} })
  const PAUSE = gql('mutation ($input: PauseInput!) { answer: pause(input: $input) { __typename } }')
  const RESUME = gql('mutation ($input: ResumeInput!) { answer: resume(input: $input) { __typename } }')
  await api.query(PAUSE, { input: { id } })
  expect(await ask('approve', BOB, { id: go })).toBe('SUCCEEDED')
  expect(await api.world.work()).toEqual([])
  await api.query(RESUME, { input: { id } })
  await api.world.settle()
  expect(await api.world.work()).toEqual(['ship'])
})

test('a config that is no gate is refused, or fails once its expressions are resolved', async () => {
  const refused = async (config: unknown, more: object = {}) => {
    const input = { name: 'refused', spec: { deployItems: [{ ...gate(config as object), ...more }] } }
    const { answer } = await api.query(MUTATIONS.createInstallation, { input } as never)
    return (present(answer) as { readonly message: string }).message
  }
  const CONFIG = 'input.spec.deployItems.0.config'
  const ONE = 'must have one of approval, signal, until, freeze, http, and has'
  expect(await refused({ approval: {}, signal: 'x' })).toBe(`${CONFIG}: ${ONE} approval and signal`)
  expect(await refused({ message: 'Ship it?' })).toBe(`${CONFIG}: ${ONE} none`)
  expect(await refused({ aproval: {} })).toBe(`${CONFIG}.aproval: there is no such setting`)
  for (const until of ['2026-12-24', '2026-02-30T08:00:00Z'])
    expect(await refused({ until })).toMatch(/config\.until: must be a time with a zone/)
  expect(await refused({ until: '2026-12-24T08:00:00' })).toMatch(/config\.until: must be a time with a zone/)
  expect(await refused({ freeze: { timeZone: 'Moon', ranges: [{ from: '01:00', to: '02:00' }] } })).toMatch(
    /config\.freeze\.timeZone: is no time zone/,
  )
  expect(await refused({ freeze: { ranges: [{ from: '00:00', to: '00:00' }] } })).toMatch(
    /config\.freeze\.ranges: must leave some time/,
  )
  expect(await refused({ approval: { count: 11 } })).toMatch(/config\.approval\.count/)
  expect(await refused({ approval: { who: 'bob' } })).toMatch(/config\.approval\.who/)
  expect(await refused({ approval: {} }, { target: 'eu' })).toMatch(/a gate has no target/)
  expect(await refused({ approval: {} }, { retry: { attempts: 2, backoff: {} } })).toMatch(
    /a gate is not attempted again/,
  )
  expect(await refused({ freeze: { ranges: [{ from: '25:00', to: '07:00' }] } })).toMatch(
    /config\.freeze\.ranges\.0\.from/,
  )
  expect(await refused({ approval: {}, schema: {} })).toMatch(/config\.schema: is only for a gate that a signal opens/)
  expect(await refused({ signal: 'x', schema: { type: 'whole' } })).toMatch(/config\.schema: there is no such type/)
  expect(await refused({ signal: 'x', schema: { $ref: 'https://x.example/' } })).toMatch(/config\.schema: /)
  const http = { url: 'https://ci.example/', until: 'status == 200' }
  expect(await refused({ http: { ...http, until: 'state ==' } })).toMatch(/config\.http\.until: /)
  expect(await refused({ http: { ...http, until: 'imports.x' } })).toMatch(
    /config\.http\.until: imports is not known: an expression may speak of status, headers, body/,
  )
  expect(await refused({ http: { ...http, url: 'ci.example' } })).toMatch(/config\.http\.url: must be an http or https/)
  expect(await refused({ http: { ...http, method: 'PUT' } })).toMatch(/config\.http\.method: there is no such setting/)
  await api.world.setData('when', 'tomorrow')
  for (const [name, config, message] of [
    [
      'no-ranges',
      { freeze: '${imports.when}' },
      'freeze.ranges: must be ranges of hours, such as { from: "16:00", to: "07:00" }',
    ],
    [
      'no-zone',
      { freeze: { timeZone: '${imports.when}', ranges: [{ from: '01:00', to: '02:00' }] } },
      'freeze.timeZone: is no time zone: write a name such as Europe/Berlin',
    ],
  ] as const) {
    await api.world.create(name, { imports: [{ name: 'when' }], deployItems: [gate(config)] })
    expect(await see(name)).toMatchObject({ phase: 'FAILED', error: { code: 'GATE', message } })
  }
  await api.world.create('unclear', { imports: [{ name: 'when' }], deployItems: [gate({ until: '${imports.when}' })] })
  expect(await see('unclear')).toMatchObject({
    phase: 'FAILED',
    error: { code: 'GATE', message: expect.stringMatching(/^until: must be a time with a zone/) },
  })
})

test('a dry run leaves gates out', async () => {
  const DRY_RUN = gql(`mutation ($input: DryRunInstallationInput!) {
    answer: dryRunInstallation(input: $input) { ... on DryRun { items { type state message } } ... on Error { message } }
  }`)
  const input = { create: { name: 'tried', spec: { deployItems: [gate({ approval: {} })] } } }
  const { answer } = await api.query(DRY_RUN, { input })
  expect(answer).toMatchObject({
    items: [{ type: 'gate', state: 'SKIPPED', message: 'No agent has to do with a gate.' }],
  })
})
