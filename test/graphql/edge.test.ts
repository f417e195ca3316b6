import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import type { ResultOf } from '../../src/documents/typed-document.ts'
import { payloadOf, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import {
  addCloudlet,
  addInstance,
  CRM,
  connectCrm,
  phaseOf,
  readyCloudlet,
  readyInstance,
  requestFor,
  sendReport,
} from '../testkit/edge.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { addPrincipal } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

let api: Api
let url: string
beforeAll(async () => {
  api = await createApi()
  await addPrincipal(api.world.pool, CRM)
  url = `${(await api.serve()).url}/graphql`
})
afterAll(() => api[Symbol.asyncDispose]())

const REQUESTS = gql(`subscription ($cloudletId: ID!, $epoch: Int!) {
  crmRequests(cloudletId: $cloudletId, epoch: $epoch) { fence action kind path specRevision spec object { phase } }
}`)
const CONNECT = gql(`mutation ($input: ConnectCrmInput!) { answer: connectCrm(input: $input) {
  __typename ... on CrmSession { epoch fence requests { fence action path } } ... on Error { code message }
} }`)
type Request = ResultOf<typeof REQUESTS>['crmRequests']

/** A CRM at a real socket. */
async function crmClient() {
  const token = await api.token({ name: 'crm', role: 'AGENT', actor: 'CRM' })
  const client = createClient({ url, token })
  return {
    client,
    async connect(cloudletId: string, instance = 'one') {
      const input = { cloudletId, instance, version: '1', objects: [] }
      const { answer } = await client.query(CONNECT, { input })
      await api.world.settle()
      return present(answer)
    },
    listen(cloudletId: string, epoch: number) {
      const heard: Request[] = []
      const stop = new AbortController()
      const run = async () => {
        for await (const event of client.subscribe(REQUESTS, { cloudletId, epoch }, { signal: stop.signal }))
          heard.push(event.crmRequests)
      }
      return { heard, ended: run(), stop: () => stop.abort() }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

describe('crmRequests', () => {
  test('tells what is outstanding, then what comes up, and ends when a newer epoch connects', async () => {
    await using crm = await crmClient()
    const cloudlet = await addCloudlet(api.world)
    const { epoch } = payloadOf(await crm.connect(cloudlet))
    const first = await addInstance(api.world, 'CLUSTER_INST', cloudlet, { name: 'first', spec: { a: 1 } })
    const stream = crm.listen(cloudlet, epoch)
    // Each is sent again after some seconds.
    const paths = () => [...new Map(stream.heard.map(({ fence, path }) => [fence, path[1]])).values()]
    await until(() => paths().length === 1, { what: 'what is outstanding' })
    expect(stream.heard[0]).toMatchObject({ action: 'CREATE', kind: 'CLUSTER_INST', specRevision: 1, spec: { a: 1 } })
    expect(stream.heard[0]?.object).toEqual({ phase: 'CREATE_REQUESTED' })
    await addInstance(api.world, 'CLUSTER_INST', cloudlet, { name: 'second' })
    await until(() => paths().length === 2, { what: 'what has come up' })
    expect(paths()).toEqual(['first', 'second'])
    // Sent again, under the same fence, until it is acknowledged.
    const isTwice = (name: string) => stream.heard.filter(({ path }) => path[1] === name).length >= 2
    await until(() => ['first', 'second'].every(isTwice), { what: 'both again' })
    expect(new Set(stream.heard.map(({ fence }) => fence)).size).toBe(2)
    const newer = payloadOf(await crm.connect(cloudlet, 'two'))
    await stream.ended
    expect([newer.epoch, newer.requests.length]).toEqual([epoch + 1, 2])
    expect(await phaseOf(api.world, first)).toBe('CREATE_REQUESTED')
    expect(await crm.connect(cloudlet)).toMatchObject({ __typename: 'StaleReportError', code: 'STALE_REPORT' })
  })

  test('a client that goes away leaves its cloudlet OFFLINE, and brings it back when it comes back', async () => {
    await using crm = await crmClient()
    const cloudlet = await addCloudlet(api.world)
    const { epoch } = payloadOf(await crm.connect(cloudlet))
    const stream = crm.listen(cloudlet, epoch)
    await addInstance(api.world, 'CLUSTER_INST', cloudlet)
    await until(() => stream.heard.length > 0, { what: 'it is heard' })
    stream.stop()
    await until(
      async () => {
        await api.world.settle()
        return (await phaseOf(api.world, cloudlet)) === 'OFFLINE'
      },
      { what: 'offline' },
    )
    const again = payloadOf(await crm.connect(cloudlet))
    expect([again.epoch, await phaseOf(api.world, cloudlet)]).toEqual([epoch, 'READY'])
    expect(again.requests.map(({ fence }) => fence)).toEqual([stream.heard[0]?.fence])
  })

  test('of one session only the stream that began last counts', async () => {
    await using crm = await crmClient()
    const cloudlet = await addCloudlet(api.world)
    const { epoch } = payloadOf(await crm.connect(cloudlet))
    const old = crm.listen(cloudlet, epoch)
    await addInstance(api.world, 'CLUSTER_INST', cloudlet)
    await until(() => old.heard.length > 0, { what: 'the old one' })
    const next = crm.listen(cloudlet, epoch)
    await until(() => next.heard.length > 0, { what: 'the new one' })
    await old.ended
    await api.world.settle()
    expect(await phaseOf(api.world, cloudlet)).toBe('READY')
    next.stop()
  })

  test('ends at once for a session that is not there, and is for CRMs only', async () => {
    await using crm = await crmClient()
    const { id, session } = await readyCloudlet(api.world)
    for (const [of, epoch] of [
      [id, session.epoch + 1],
      ['nonsense', 1],
    ] as const) {
      const stream = crm.listen(of, epoch)
      await stream.ended
      expect(stream.heard).toEqual([])
    }
    const user = createClient({ url, token: await api.token() })
    const stream = user.subscribe(REQUESTS, { cloudletId: id, epoch: 1 })
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('the actor CRM')
    await user.close()
  })
})

test('a key that is used again after its object has gone is refused, and says so', async () => {
  const { id } = await readyCloudlet(api.world)
  const input = { cloudletId: id, name: 'c', spec: {}, idempotencyKey: 'k' }
  const create = async () => (await api.query(MUTATIONS.createClusterInst, { input })).answer
  const { id: cluster } = payloadOf(await create())
  expect(await create()).toEqual({ __typename: 'ClusterInst', id: cluster })
  await sendReport(api.world, { fence: (await requestFor(api.world, id, cluster)).fence, phase: 'CREATE_ERROR' })
  expect(await create()).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('is deleted since') })
})

test('an update that is repeated with its key begins no other operation', async () => {
  const { id } = await readyCloudlet(api.world)
  const cluster = await readyInstance(api.world, id)
  const input = { id: cluster, spec: { size: 7 }, expectedGeneration: 1, idempotencyKey: 'update' }
  const update = async () => (await api.query(MUTATIONS.updateClusterInst, { input })).answer
  expect(await update()).toEqual({ __typename: 'ClusterInst', id: cluster })
  const { fence } = await requestFor(api.world, id, cluster)
  expect(await update()).toEqual({ __typename: 'ClusterInst', id: cluster })
  expect((await requestFor(api.world, id, cluster)).fence).toBe(fence)
})

describe('what the API shows', () => {
  const OBJECT = gql(`query ($id: ID!) { object(id: $id) {
    phase finished blockedBy { __typename reason message } deadlines { name to } allowedTransitions { machine from to }
    ... on Cloudlet { upgradePhase epoch version wantedVersion drifted driftedInstances { name } orphans { path } agents { role epoch version leaseUntil } }
    ... on ClusterInst { operationId specRevision drifted undoing spec cloudlet { name } agent { name } }
  } }`)
  const show = async (id: string) => (await api.query(OBJECT, { id })).object

  test('of a cloudlet: its CRM, its upgrade, what its users may do', async () => {
    const waiting = await addCloudlet(api.world)
    expect(await show(waiting)).toMatchObject({
      phase: 'INIT',
      finished: false,
      blockedBy: [{ __typename: 'AgentBlocker' }],
      deadlines: [{ name: 'connect', to: 'OFFLINE' }],
    })
    const { id, session } = await readyCloudlet(api.world)
    const cluster = await readyInstance(api.world, id)
    expect(await show(id)).toMatchObject({
      phase: 'READY',
      finished: true,
      blockedBy: [],
      deadlines: [],
      agents: [{ role: 'CRM', epoch: session.epoch, version: '1' }],
      allowedTransitions: [{ machine: 'cloudletUpgrade', from: 'READY', to: 'UPDATE_REQUESTED' }],
    })
    const upgrade = { input: { id, version: '2' } }
    expect((await api.query(MUTATIONS.upgradeCloudlet, upgrade)).answer).toEqual({ __typename: 'Cloudlet', id })
    expect(await show(id)).toMatchObject({
      upgradePhase: 'UPDATE_REQUESTED',
      wantedVersion: '2',
      finished: false,
      deadlines: [{ name: 'upgrade', to: 'UPDATE_ERROR' }],
      blockedBy: [{ reason: 'AGENT' }],
    })
    const { updateClusterInst } = await api.query(
      gql(`mutation ($id: ID!) { updateClusterInst(input: { id: $id, spec: { size: 2 } }) {
        __typename ... on ConflictError { code message object { id } } } }`),
      { id: cluster },
    )
    expect(updateClusterInst).toMatchObject({ code: 'CLOUDLET_UPGRADING', object: { id } })
    // The upgrade is no move of the cloudlet's own phase: neither now nor as it was.
    const { tree } = await api.query(gql('query ($id: ID!) { tree(rootId: $id) { sequence } }'), { id })
    const { treeAt } = await api.query(
      gql('query ($id: ID!, $at: Sequence!) { treeAt(rootId: $id, sequence: $at) { objects { kind phase } } }'),
      { id, at: present(tree).sequence },
    )
    expect(treeAt?.objects[0]).toEqual({ kind: 'CLOUDLET', phase: 'READY' })
  })

  test('of an instance: its operation, why it waits and until when', async () => {
    const { id, name } = await readyCloudlet(api.world)
    const cluster = await addInstance(api.world, 'CLUSTER_INST', id, { name: 'c', spec: { nodes: 2 } })
    const { operationId } = await requestFor(api.world, id, cluster)
    expect(await show(cluster)).toMatchObject({
      phase: 'CREATE_REQUESTED',
      finished: false,
      operationId,
      spec: { nodes: 2 },
      specRevision: 1,
      cloudlet: { name },
      agent: { name: CRM.name },
      blockedBy: [{ reason: 'AGENT' }],
      deadlines: [{ name: 'silence', to: 'CREATE_ERROR' }],
    })
    api.world.clock.advance(200_000)
    await sendReport(api.world, { fence: (await requestFor(api.world, id, cluster)).fence, phase: 'CREATING' })
    await api.world.pool.query('delete from crm_lease where cloudlet_id = $1', [id])
    await api.world.pool.query('insert into wake (root_id, object_ids) values ($1, array[$1::uuid])', [id])
    await api.world.settle()
    expect(await show(cluster)).toMatchObject({ blockedBy: [{ __typename: 'CloudletBlocker', reason: 'CLOUDLET' }] })
    await connectCrm(api.world, id, { objects: [] })
    expect(await show(cluster)).toBeNull()
    const { items } = await api.query(
      gql('query { items: objects(filter: { kinds: [CLUSTER_INST], finished: false }) { totalCount } }'),
    )
    expect(items?.totalCount).toBeGreaterThan(0)
  })
})

test('a verb is offered where it is accepted: cancel, for a cluster that waits for its apps to go', async () => {
  const { world } = api
  const { id } = await readyCloudlet(world)
  const cluster = await readyInstance(world, id)
  await readyInstance(world, id, 'APP_INST', cluster)
  const offered = async () => {
    const verbs = gql('query ($id: ID!) { object(id: $id) { phase verbs { name allowed } } }')
    const object = present((await api.query(verbs, { id: cluster })).object)
    return [object.phase, object.verbs.find(({ name }) => name === 'cancel')?.allowed]
  }
  const { answer: deleted } = await api.query(MUTATIONS.deleteClusterInst, { input: { id: cluster, cascade: true } })
  expect(deleted).toMatchObject({ id: cluster })
  await world.settle()
  expect(await offered()).toEqual(['DELETE_PREPARE', false])
  const { answer } = await api.query(MUTATIONS.cancelClusterInst, { input: { id: cluster } })
  expect(answer).toMatchObject({ __typename: 'TransitionError' })
  const other = await addInstance(world, 'CLUSTER_INST', id)
  const asked = present(
    (await api.query(gql('query ($id: ID!) { object(id: $id) { verbs { name allowed } } }'), { id: other })).object,
  )
  expect(asked.verbs.find(({ name }) => name === 'cancel')?.allowed).toBe(true)
  expect((await api.query(MUTATIONS.cancelClusterInst, { input: { id: other } })).answer).toMatchObject({ id: other })
})
