import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import { payloadOf, present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { DEPLOYER, item, USER } from '../testkit/world.ts'
import { type Api, type Call, createApi } from './api.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const READER: Viewer = viewerOf('READER', { name: 'rita' })
const ERROR =
  '... on Error { code message ... on InvalidInputError { fields { path } } ... on ConflictError { object { name } } }'

const CREATE = gql(`mutation ($input: CreateInstallationInput!) { answer: createInstallation(input: $input) {
  __typename ${ERROR} ... on Installation { id name phase generation project { name } }
} }`)
const INSTALLATION = `__typename ${ERROR} ... on Installation { id generation revision description ignored nextMode nextDeletion cancelRequestedAt cancelBy }`
const UPDATE = gql(
  `mutation ($input: UpdateInstallationInput!) { answer: updateInstallation(input: $input) { ${INSTALLATION} } }`,
)
const RECONCILE = gql(`mutation ($input: ReconcileInstallationInput!) {
  answer: reconcileInstallation(input: $input) { ${INSTALLATION} }
}`)
const CANCEL = gql(
  `mutation ($input: CancelInstallationInput!) { answer: cancelInstallation(input: $input) { ${INSTALLATION} } }`,
)
const DELETE = gql(
  `mutation ($input: DeleteInstallationInput!) { answer: deleteInstallation(input: $input) { ${INSTALLATION} } }`,
)

async function ask<Result, Input>(
  document: TypedDocument<{ readonly answer: Result }, { readonly input: Input }>,
  input: NoInfer<Input>,
): Promise<Result> {
  return (await api.query(document, { input })).answer
}

describe('installations', () => {
  test('create, update, reconcile, cancel and delete return the installation as it is then', async () => {
    const created = await ask(CREATE, {
      name: 'life',
      description: 'lives long',
      spec: { deployItems: [{ name: 'a', type: 'mock', timeouts: { pickup: { never: true } } }] },
    })
    expect(created).toMatchObject({
      __typename: 'Installation',
      name: 'life',
      // Nobody else wanted the scope: it has gone on in the transaction that has created it.
      phase: 'PROGRESSING',
      generation: 1,
      project: { name: 'default' },
    })
    await api.world.settle()
    const { id } = payloadOf(created)
    expect(await ask(UPDATE, { id, ignored: true, reconcile: false })).toMatchObject({
      ignored: true,
      description: 'lives long',
    })
    const settings = { id, ignored: false, description: 'lives on', reconcile: false }
    const updated = await ask(UPDATE, settings)
    expect(updated).toMatchObject({ ignored: false, description: 'lives on' })
    // Nothing is written where nothing changes.
    expect(await ask(UPDATE, settings)).toEqual(updated)
    expect(await ask(UPDATE, { ...settings, description: 'a\0b' })).toMatchObject({
      __typename: 'InvalidInputError',
      fields: [{ path: 'input.description' }],
    })
    expect(await ask(UPDATE, { id, expectedGeneration: 7, spec: {} })).toMatchObject({
      __typename: 'ConflictError',
      code: 'GENERATION_MISMATCH',
      object: { name: 'life' },
    })
    expect(await ask(RECONCILE, { id })).toMatchObject({ nextMode: 'STANDARD' })
    expect(await ask(CANCEL, { id })).toMatchObject({ cancelBy: 'ada', nextMode: null })
    expect(await ask(DELETE, { id, force: true })).toMatchObject({ nextDeletion: true })
    await api.world.settle()
    expect(await api.world.exists('life')).toBe(false)
    expect(await ask(DELETE, { id })).toMatchObject({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
  })

  test('what is wrong is told by its path, what is taken by who has it', async () => {
    expect(
      await ask(CREATE, { name: 'wrong', spec: { deployItems: [{ name: 'a', type: 'mock', dependsOn: ['b'] }] } }),
    ).toMatchObject({
      __typename: 'InvalidInputError',
      code: 'INVALID_INPUT',
      fields: [{ path: 'input.spec.deployItems.0.dependsOn.0' }],
    })
    await ask(CREATE, { name: 'taken', spec: {} })
    expect(await ask(CREATE, { name: 'taken', spec: {} })).toMatchObject({
      __typename: 'ConflictError',
      code: 'ALREADY_EXISTS',
      object: { name: 'taken' },
    })
  })

  test('a timeout is one of the two', async () => {
    const { errors } = await api.execute(
      'mutation { createInstallation(input: { name: "t", spec: { deployItems: [{ name: "a", type: "mock", timeouts: { pickup: { ms: 1, never: true } } }] } }) { __typename } }',
    )
    expect(errors?.[0]?.message).toContain('TimeoutInput')
  })

  test('a plan tells what would be done, and does nothing', async () => {
    const { planInstallation } = await api.query(
      gql(`{ planInstallation(input: { create: { name: "planned", spec: { deployItems: [{ name: "a", type: "mock" }] } } }) {
        __typename ... on InstallationPlan { steps { order action kind path name reason } }
      } }`),
    )
    expect(
      planInstallation?.steps?.map(({ order, action, kind, path }) => [order, action, kind, path.join('/')]),
    ).toEqual(expect.arrayContaining([[1, 'CREATE', 'INSTALLATION', 'planned']]))
    expect(await api.world.exists('planned')).toBe(false)
  })
})

test('data objects', async () => {
  const { setDataObject } = await api.query(
    gql(`mutation { setDataObject(input: { name: "config", value: { a: [1, null] } }) {
      __typename ${ERROR} ... on DataObject { name value exporter { id } }
    } }`),
  )
  expect(setDataObject).toEqual({
    __typename: 'DataObject',
    name: 'config',
    value: { a: [1, null] },
    exporter: null,
  })
  const data = await api.query(
    gql('{ project(name: "default") { dataObjects { totalCount edges { node { name value } } } } }'),
  )
  expect(data.project?.dataObjects).toEqual({
    totalCount: 1,
    edges: [{ node: { name: 'config', value: { a: [1, null] } } }],
  })
  const remove = () =>
    api.query(
      gql(`mutation { deleteDataObject(input: { name: "config" }) {
        __typename ... on Error { code } ... on DeletedDataObject { name project { name } }
      } }`),
    )
  expect((await remove()).deleteDataObject).toEqual({
    __typename: 'DeletedDataObject',
    name: 'config',
    project: { name: 'default' },
  })
  expect((await remove()).deleteDataObject).toEqual({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
})

describe('roles', () => {
  const CALLS: Readonly<Record<string, Call>> = {
    createInstallation: gql('mutation { answer: createInstallation(input: { name: "r", spec: {} }) { __typename } }'),
    setDataObject: gql('mutation { answer: setDataObject(input: { name: "r", value: 1 }) { __typename } }'),
    createToken: gql('mutation { answer: createToken(input: { name: "r", role: ADMIN }) { __typename } }'),
    revokeToken: gql('mutation { answer: revokeToken(input: { id: "x" }) { __typename } }'),
    claimWork: gql('mutation { answer: claimWork(input: { instance: "i", types: ["mock"] }) { __typename } }'),
    renewLeases: gql('mutation { answer: renewLeases(input: { fences: [] }) { __typename } }'),
    reportPhases: gql('mutation { answer: reportPhases(input: { reports: [] }) { __typename } }'),
    appendLogs: gql('mutation { answer: appendLogs(input: { lines: [] }) { __typename } }'),
  }
  const allowed = async (viewer: Viewer) => {
    const names: string[] = []
    for (const [name, document] of Object.entries(CALLS)) {
      const { answer } = await api.query(document, {}, viewer)
      if (answer?.__typename !== 'ForbiddenError') names.push(name)
    }
    return names
  }
  test('each may do what is its own', async () => {
    expect(await allowed(READER)).toEqual([])
    expect(await allowed(viewerOf('USER'))).toEqual(['createInstallation', 'setDataObject'])
    expect(await allowed(DEPLOYER)).toEqual(['claimWork', 'renewLeases', 'reportPhases', 'appendLogs'])
    expect(await allowed(USER)).toEqual(['createInstallation', 'setDataObject', 'createToken', 'revokeToken'])
  })

  test('tokens are shown once, and listed without their secrets', async () => {
    const { createToken } = await api.query(
      gql(`mutation { createToken(input: { name: "deployer-1", role: AGENT, types: ["mock"], projects: ["default"], expiresInMs: 60000 }) {
        ... on CreatedToken { secret token { id name role actor types targets projects expiresAt } } ... on Error { message }
      } }`),
    )
    const { secret, token } = payloadOf(createToken)
    const viewer = await api.services.tokens.authenticate(secret)
    expect(viewer).toMatchObject({
      name: 'deployer-1',
      actor: 'DEPLOYER',
      grants: [{ role: 'AGENT', projectId: expect.any(String) }],
      types: ['mock'],
      targets: null,
    })
    const listed = await api.query(gql('{ tokens { id name } viewer { name role } }'))
    expect(listed.tokens).toContainEqual({ id: token.id, name: 'deployer-1' })
    expect((await api.execute('{ tokens { id } }', {}, READER)).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    const persisted = await api.world.pool.query('select t::text as row from token t')
    expect(JSON.stringify(persisted.rows)).not.toContain(secret)
    const wrong = await api.query(
      gql(`mutation { createToken(input: { name: " ", role: USER, types: ["x"], expiresInMs: 1 }) {
        ... on InvalidInputError { fields { path } }
      } }`),
    )
    expect(wrong.createToken?.fields?.map(({ path }) => path)).toEqual([
      'input.name',
      'input.role',
      'input.expiresInMs',
    ])
  })
})

describe('agents', () => {
  test('claim, renew, report and append, each with one answer for each', async () => {
    await ask(CREATE, { name: 'work', spec: { deployItems: [item('a', [], { secret: 'xyz' }), item('b')] } })
    await api.world.settle()
    const { claimWork } = await api.query(
      gql(`mutation { claimWork(input: { instance: "one", types: ["mock"], max: 5 }) { ... on ClaimedWork { items {
        fence objectId name kind type action attempt config leaseUntil object { name phase }
      } } ... on Error { message } } }`),
      {},
      DEPLOYER,
    )
    const [a, b] = payloadOf(claimWork).items
    if (!a || !b) throw new Error('two items were not claimed')
    expect(a).toMatchObject({
      kind: 'DEPLOY_ITEM',
      type: 'mock',
      action: 'RECONCILE',
      attempt: 1,
      object: { phase: 'PROGRESSING' },
    })
    const { renewLeases } = await api.query(
      gql(`mutation ($fences: [String!]!) { renewLeases(input: { fences: $fences }) {
        ... on RenewedLeases { leases { fence state leaseUntil } }
      } }`),
      { fences: [a.fence, 'nonsense', b.fence] },
      DEPLOYER,
    )
    expect(renewLeases?.leases?.map(({ state }) => state)).toEqual(['HELD', 'LOST', 'HELD'])
    const { appendLogs } = await api.query(
      gql(
        'mutation ($lines: [LogLineInput!]!) { appendLogs(input: { lines: $lines }) { ... on AppendedLogs { accepted } } }',
      ),
      {
        lines: [
          { fence: a.fence, stream: 'STDOUT', text: 'one' },
          { fence: a.fence, stream: 'STDERR', text: 'two' },
          { fence: 'nonsense', stream: 'STDOUT', text: 'three' },
        ],
      },
      DEPLOYER,
    )
    expect(appendLogs).toEqual({ accepted: 2 })
    const { reportPhases } = await api.query(
      gql(`mutation ($reports: [PhaseReportInput!]!) { reportPhases(input: { reports: $reports }) { ... on PhaseReports { results {
        __typename ... on Error { code } ... on TransitionError { from to actor allowed }
        ... on PhaseReportAccepted { changed object { name phase progress { step value total unit } } }
      } } } }`),
      {
        reports: [
          { fence: a.fence, progress: { step: 'copy', value: 1, total: 2, unit: 'files' } },
          { fence: a.fence, phase: 'DELETING' },
          { fence: 'nonsense', phase: 'SUCCEEDED' },
          { fence: b.fence, phase: 'SUCCEEDED', exports: { url: 'x' } },
        ],
      },
      DEPLOYER,
    )
    const name = a.name
    expect(reportPhases?.results).toEqual([
      {
        __typename: 'PhaseReportAccepted',
        changed: false,
        object: { name, phase: 'PROGRESSING', progress: { step: 'copy', value: 1, total: 2, unit: 'files' } },
      },
      {
        __typename: 'TransitionError',
        code: 'TRANSITION',
        from: 'PROGRESSING',
        to: 'DELETING',
        actor: 'DEPLOYER',
        allowed: ['SUCCEEDED', 'FAILED', 'ABORTED'],
      },
      { __typename: 'StaleReportError', code: 'STALE_REPORT' },
      {
        __typename: 'PhaseReportAccepted',
        changed: true,
        object: { name: b.name, phase: 'SUCCEEDED', progress: null },
      },
    ])
    const { object: node, agents } = await api.query(
      gql(`query ($id: ID!) {
        object(id: $id) {
          ... on DeployItem { attempt agent { name instance } config exports }
          logs { totalCount edges { cursor node { stream text cursor } } }
          history { totalCount } all: history(includeRejected: true) { totalCount edges { node { rejected to revision } } }
        }
        agents { edges { node { name instance types connected } } }
      }`),
      { id: a.objectId },
    )
    expect(node).toMatchObject({ attempt: 1, agent: { name: 'deployer', instance: 'one' }, config: { secret: 'xyz' } })
    expect(node?.logs.edges.map(({ node: line }) => [line.stream, line.text])).toEqual([
      ['STDOUT', 'one'],
      ['STDERR', 'two'],
    ])
    expect(node?.logs.edges[0]?.cursor).toBe(node?.logs.edges[0]?.node.cursor)
    expect(node?.all.totalCount).toBe(present(node?.history.totalCount) + 1)
    expect(node?.all.edges.at(-1)?.node).toEqual({ rejected: true, to: 'DELETING', revision: 0 })
    expect(agents?.edges.map(({ node: agent }) => agent)).toContainEqual({
      name: 'deployer',
      instance: 'one',
      types: ['mock'],
      connected: true,
    })
  })
})

describe('labels', () => {
  const UPDATE = `mutation ($input: UpdateLabelsInput!) { answer: updateLabels(input: $input) {
    __typename ... on UpdatedLabels { object { kind revision labels { key value } } } ... on Error { code message }
  } }`
  const update = async (input: object): Promise<any> => (await api.execute(UPDATE, { input })).data?.answer

  test('each kind of object has labels that can be set and removed, without a run', async () => {
    await api.world.create('labelled', { deployItems: [item('a')] })
    const READ = `{ objects(first: 200) { edges { node { id kind jobId phase revision labels { key value } } } } }`
    const read = async (): Promise<readonly any[]> =>
      ((await api.execute(READ, {})).data as any).objects.edges.map(({ node }: any) => node)
    const before = await read()
    expect(new Set(before.map(({ kind }) => kind))).toEqual(new Set(['INSTALLATION', 'EXECUTION', 'DEPLOY_ITEM']))
    for (const { id, kind, labels } of before) {
      const answer = await update({ id, set: [{ key: 'team', value: 'web' }] })
      expect([kind, answer.object?.labels]).toEqual([kind, [...labels, { key: 'team', value: 'web' }]])
    }
    const after = await read()
    for (const [i, { jobId, phase, revision }] of before.entries())
      expect(after[i]).toMatchObject({ jobId, phase, revision: revision + 1 })
    for (const { id, labels } of before)
      expect((await update({ id, remove: ['team', 'absent'] })).object.labels).toEqual(labels)
  })

  test('a change that cannot be is refused, and one that is repeated changes nothing', async () => {
    const id = await api.world.create('kept', {})
    const many = Array.from({ length: 64 }, (_, i) => ({ key: `k${i}`, value: '' }))
    const set = [{ key: 'one', value: '1' }]
    const first = await update({ id, set, idempotencyKey: 'once' })
    expect(await update({ id, set, idempotencyKey: 'once' })).toEqual(first)
    expect(await update({ id, set })).toEqual(first)
    expect(await update({ id, set: many })).toMatchObject({ __typename: 'LimitError', code: 'LIMIT' })
    expect(await update({ id, set, remove: ['one'] })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await update({ id, set, expectedGeneration: 7 })).toMatchObject({ code: 'GENERATION_MISMATCH' })
    expect(await update({ id: '0190b1c2-0000-7000-8000-000000000000', set })).toMatchObject({ code: 'NOT_FOUND' })
  })
})
