import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { DEPLOYER, item, USER } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const READER: Viewer = { ...USER, name: 'rita', role: 'READER' }
const ERROR =
  '... on Error { code message ... on InvalidInputError { fields { path } } ... on ConflictError { object { name } } }'

const create = async (input: object, viewer = USER) =>
  (
    await api.query(
      `mutation ($input: CreateInstallationInput!) { createInstallation(input: $input) { __typename ${ERROR} ... on Installation { id name phase generation project { name } } } }`,
      { input },
      viewer,
    )
  ).createInstallation

describe('installations', () => {
  test('create, update, reconcile, cancel and delete return the installation as it is then', async () => {
    const created = await create({
      name: 'life',
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
    const ask = async (field: string, input: object) =>
      (
        await api.query(
          `mutation { ${field}Installation(input: ${literal({ id: created.id, ...input })}) { __typename ${ERROR} ... on Installation { id generation ignored nextMode nextDeletion cancelRequestedAt cancelBy } } }`,
        )
      )[`${field}Installation`]
    expect(await ask('update', { ignored: true, reconcile: false })).toMatchObject({ ignored: true })
    expect(await ask('update', { ignored: false, reconcile: false })).toMatchObject({ ignored: false })
    expect(await ask('update', { expectedGeneration: 7, spec: {} })).toMatchObject({
      __typename: 'ConflictError',
      code: 'GENERATION_MISMATCH',
      object: { name: 'life' },
    })
    expect(await ask('reconcile', {})).toMatchObject({ nextMode: 'STANDARD' })
    expect(await ask('cancel', {})).toMatchObject({ cancelBy: 'ada', nextMode: null })
    expect(await ask('delete', { force: true })).toMatchObject({ nextDeletion: true })
    await api.world.settle()
    expect(await api.world.exists('life')).toBe(false)
    expect(await ask('delete', {})).toMatchObject({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
  })

  test('what is wrong is told by its path, what is taken by who has it', async () => {
    expect(
      await create({ name: 'wrong', spec: { deployItems: [{ name: 'a', type: 'mock', dependsOn: ['b'] }] } }),
    ).toMatchObject({
      __typename: 'InvalidInputError',
      code: 'INVALID_INPUT',
      fields: [{ path: 'input.spec.deployItems.0.dependsOn.0' }],
    })
    await create({ name: 'taken', spec: {} })
    expect(await create({ name: 'taken', spec: {} })).toMatchObject({
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
      `{ planInstallation(input: { create: { name: "planned", spec: { deployItems: [{ name: "a", type: "mock" }] } } }) { __typename ... on InstallationPlan { steps { order action kind path name reason } } } }`,
    )
    expect(
      planInstallation.steps.map((step: any) => [step.order, step.action, step.kind, step.path.join('/')]),
    ).toEqual(expect.arrayContaining([[1, 'CREATE', 'INSTALLATION', 'planned']]))
    expect(await api.world.exists('planned')).toBe(false)
  })
})

test('data objects', async () => {
  const set = (value: string) =>
    api.query(
      `mutation { setDataObject(input: { name: "config", value: ${value} }) { __typename ${ERROR} ... on DataObject { name value exporter { id } } } }`,
    )
  expect((await set('{ a: [1, null] }')).setDataObject).toEqual({
    __typename: 'DataObject',
    name: 'config',
    value: { a: [1, null] },
    exporter: null,
  })
  const data = await api.query(
    '{ project(name: "default") { dataObjects { totalCount edges { node { name value } } } } }',
  )
  expect(data.project.dataObjects).toEqual({
    totalCount: 1,
    edges: [{ node: { name: 'config', value: { a: [1, null] } } }],
  })
  const remove = () =>
    api.query(
      `mutation { deleteDataObject(input: { name: "config" }) { __typename ... on Error { code } ... on DeletedDataObject { name project { name } } } }`,
    )
  expect((await remove()).deleteDataObject).toEqual({
    __typename: 'DeletedDataObject',
    name: 'config',
    project: { name: 'default' },
  })
  expect((await remove()).deleteDataObject).toEqual({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
})

describe('roles', () => {
  const MUTATIONS: Readonly<Record<string, string>> = {
    createInstallation: '{ name: "r", spec: {} }',
    setDataObject: '{ name: "r", value: 1 }',
    createToken: '{ name: "r", role: ADMIN }',
    revokeToken: '{ id: "x" }',
    claimWork: '{ instance: "i", types: ["mock"] }',
    renewLeases: '{ fences: [] }',
    reportPhases: '{ reports: [] }',
    appendLogs: '{ lines: [] }',
  }
  const allowed = async (viewer: Viewer) => {
    const names: string[] = []
    for (const [name, input] of Object.entries(MUTATIONS)) {
      const data = await api.query(`mutation { ${name}(input: ${input}) { __typename } }`, {}, viewer)
      if (data[name].__typename !== 'ForbiddenError') names.push(name)
    }
    return names
  }
  test('each may do what is its own', async () => {
    expect(await allowed(READER)).toEqual([])
    expect(await allowed({ ...USER, role: 'USER' })).toEqual(['createInstallation', 'setDataObject'])
    expect(await allowed(DEPLOYER)).toEqual(['claimWork', 'renewLeases', 'reportPhases', 'appendLogs'])
    expect(await allowed(USER)).toEqual(['createInstallation', 'setDataObject', 'createToken', 'revokeToken'])
  })

  test('tokens are shown once, and listed without their secrets', async () => {
    const { createToken } = await api.query(
      'mutation { createToken(input: { name: "deployer-1", role: AGENT, types: ["mock"], projects: ["default"], expiresInMs: 60000 }) { ... on CreatedToken { secret token { id name role actor types targets projects expiresAt } } } }',
    )
    const viewer = await api.services.tokens.authenticate(createToken.secret)
    expect(viewer).toMatchObject({
      name: 'deployer-1',
      role: 'AGENT',
      actor: 'DEPLOYER',
      types: ['mock'],
      targets: null,
    })
    const listed = await api.query('{ tokens { id name } viewer { name role } }')
    expect(listed.tokens).toContainEqual({ id: createToken.token.id, name: 'deployer-1' })
    expect((await api.execute('{ tokens { id } }', {}, READER)).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    const persisted = await api.world.pool.query('select t::text as row from token t')
    expect(JSON.stringify(persisted.rows)).not.toContain(createToken.secret)
    const wrong = await api.query(
      'mutation { createToken(input: { name: " ", role: USER, types: ["x"], expiresInMs: 1 }) { ... on InvalidInputError { fields { path } } } }',
    )
    expect(wrong.createToken.fields.map((f: any) => f.path)).toEqual(['input.name', 'input.role', 'input.expiresInMs'])
  })
})

describe('agents', () => {
  test('claim, renew, report and append, each with one answer for each', async () => {
    await create({ name: 'work', spec: { deployItems: [item('a', [], { secret: 'xyz' }), item('b')] } })
    await api.world.settle()
    const { claimWork } = await api.query(
      'mutation { claimWork(input: { instance: "one", types: ["mock"], max: 5 }) { ... on ClaimedWork { items { fence objectId name kind type action attempt config leaseUntil object { name phase } } } } }',
      {},
      DEPLOYER,
    )
    const [a, b] = claimWork.items
    expect(a).toMatchObject({
      kind: 'DEPLOY_ITEM',
      type: 'mock',
      action: 'RECONCILE',
      attempt: 1,
      object: { phase: 'PROGRESSING' },
    })
    const { renewLeases } = await api.query(
      'mutation ($fences: [String!]!) { renewLeases(input: { fences: $fences }) { ... on RenewedLeases { leases { fence state leaseUntil } } } }',
      { fences: [a.fence, 'nonsense', b.fence] },
      DEPLOYER,
    )
    expect(renewLeases.leases.map((lease: any) => lease.state)).toEqual(['HELD', 'LOST', 'HELD'])
    const { appendLogs } = await api.query(
      'mutation ($lines: [LogLineInput!]!) { appendLogs(input: { lines: $lines }) { ... on AppendedLogs { accepted } } }',
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
      `mutation ($reports: [PhaseReportInput!]!) { reportPhases(input: { reports: $reports }) { ... on PhaseReports { results {
        __typename ... on Error { code } ... on TransitionError { from to actor allowed } ... on PhaseReportAccepted { changed object { name phase progress { step value total unit } } } } } } }`,
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
    expect(reportPhases.results).toEqual([
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
      `{ object(id: "${a.objectId}") { ... on DeployItem { attempt agent { name instance } config exports } logs { totalCount edges { cursor node { stream text cursor } } }
          history { totalCount } all: history(includeRejected: true) { totalCount edges { node { rejected to revision } } } }
        agents { edges { node { name instance types connected } } } }`,
    )
    expect(node).toMatchObject({ attempt: 1, agent: { name: 'deployer', instance: 'one' }, config: { secret: 'xyz' } })
    expect(node.logs.edges.map(({ node: line }: any) => [line.stream, line.text])).toEqual([
      ['STDOUT', 'one'],
      ['STDERR', 'two'],
    ])
    expect(node.logs.edges[0].cursor).toBe(node.logs.edges[0].node.cursor)
    expect(node.all.totalCount).toBe(node.history.totalCount + 1)
    expect(node.all.edges.at(-1).node).toEqual({ rejected: true, to: 'DELETING', revision: null })
    expect(agents.edges.map(({ node: agent }: any) => agent)).toContainEqual({
      name: 'deployer',
      instance: 'one',
      types: ['mock'],
      connected: true,
    })
  })
})

/** As a GraphQL literal. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([key, entry]) => `${key}: ${literal(entry)}`)
    .join(', ')} }`
}
