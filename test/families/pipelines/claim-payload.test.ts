import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import type { Phase } from '../../../src/core/vocabulary.ts'
import { bindPipelines } from '../../../src/families/pipelines/commands/index.ts'
import type { StartConfig } from '../../../src/families/pipelines/store/claim-payload.ts'
import { createWorkerTokens } from '../../../src/families/pipelines/store/worker-tokens.ts'
import type { WorkloadInput } from '../../../src/projects/rules/normalise-workload.ts'
import { createSealing } from '../../../src/store/sealing.ts'
import { type Api, createApi } from '../../graphql/api.ts'
import { payloadOf } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import { openSandbox } from '../../testkit/sandbox.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { TIMEOUTS, USER } from '../../testkit/world.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const RUNTIME: Viewer = viewerOf('AGENT', { name: 'runtime', actor: 'RUNTIME' })
const CLAIM = gql(`mutation ($input: ClaimWorkInput!) { claimWork(input: $input) {
  __typename ... on ClaimedWork { items { fence objectId kind name action config token attempt } } ... on Error { message }
} }`)

/** All work of a runtime, which stands for one test. */
const claim = async (type: string) => {
  await api.world.settle()
  const input = { instance: `machine-${type}`, types: [type], max: 100 }
  const { claimWork } = await api.query(CLAIM, { input }, RUNTIME)
  return payloadOf(claimWork).items.map(({ config, ...item }) => ({ ...item, config: config as StartConfig | null }))
}
const report = (fence: string, phase: Phase) =>
  api.query(MUTATIONS.reportPhases, { input: { reports: [{ fence, phase }] } }, RUNTIME)

const projectId = async (name: string) =>
  (await api.world.pool.query<{ id: string }>('select id from project where name = $1', [name])).rows[0]?.id as string

/** A project whose worker waits for a runtime of its name. */
async function createProject(
  name: string,
  secrets: Readonly<Record<string, string>> = {},
  more: Partial<WorkloadInput> = {},
): Promise<void> {
  const { projects } = api.world
  const workerTemplate = {
    runtime: name,
    image: null,
    command: ['node', 'w.mjs'],
    args: ['a b'],
    env: [{ name: 'MODE', value: 'ci' }],
    files: [{ path: 'w.mjs', content: '1' }],
    workspace: true,
    ...more,
  }
  expect(await projects.createProject(USER, { name, workerTemplate })).toMatchObject({ ok: true })
  for (const [key, value] of Object.entries(secrets))
    expect(await projects.setSecret(USER, { project: name, name: key, value })).toMatchObject({ ok: true })
}
async function createEvent(project: string): Promise<string> {
  const input = {
    project,
    source: 'git',
    type: 'push',
    qualifiers: [{ key: 'repo', value: 'shop' }],
    labels: [{ key: 'team', value: 'a' }],
    payload: '{"commit":1}',
  }
  const created = await api.world.pipelines.createEvent(USER, input)
  return created.ok ? (created.eventIds[0] ?? '') : ''
}
const as = (token: string | null) => api.services.tokens.authenticate(token ?? '')
/** The cache of tokens expires after a while. */
const later = () => api.world.clock.advance(2_001)

describe('the payload of a claimed START', () => {
  test('a worker and its jobs: all that they need, and only with the claim', async () => {
    await createProject('whole', { TOKEN: 'hunter2', EMPTYISH: ' ' })
    const eventId = await createEvent('whole')
    // Both came later.
    await api.world.projects.setSecret(USER, { project: 'whole', name: 'TOKEN', value: 'changed' })
    await api.world.projects.deleteSecret(USER, { project: 'whole', name: 'EMPTYISH' })
    const [worker] = await claim('whole')
    const event = {
      id: eventId,
      name: 'event-1',
      project: 'whole',
      source: 'git',
      type: 'push',
      qualifiers: { repo: 'shop' },
      labels: { team: 'a' },
      payload: '{"commit":1}',
    }
    const config = {
      eventId,
      workerId: worker?.objectId,
      project: 'whole',
      image: null,
      command: ['node', 'w.mjs'],
      args: ['a b'],
      env: { MODE: 'ci' },
      files: [{ path: 'w.mjs', content: '1' }],
      secrets: { TOKEN: 'hunter2', EMPTYISH: ' ' },
      event,
      workspace: worker?.objectId,
      clone: null,
    }
    expect(worker).toMatchObject({ kind: 'WORKER', action: 'START', config })
    expect(Object.keys(worker?.config ?? {}).sort()).toEqual(Object.keys(config).sort())
    const viewer = (await as(worker?.token ?? null)) as Viewer
    for (const [name, workspace] of [
      ['shared', true],
      ['alone', false],
    ] as const)
      expect(await api.world.pipelines.createJob(viewer, { name, spec: { command: [name], workspace } })).toMatchObject(
        { ok: true },
      )
    const jobs = [...(await claim('whole'))].sort((a, b) => (a.name < b.name ? 1 : -1))
    expect(jobs.map((job) => [job.config?.command, job.config?.workspace, job.token])).toEqual([
      [['shared'], worker?.objectId, null],
      [['alone'], null, null],
    ])
    expect(jobs[0]?.config).toMatchObject({ eventId, workerId: worker?.objectId, secrets: config.secrets, event })
    const { rows } = await api.world.pool.query('select w::text as row from work w')
    expect(JSON.stringify(rows)).not.toContain('hunter2')
  })

  test('a clone has its ref from the event and its credentials, which the workload does not get', async () => {
    const url = 'https://git.example.com/app.git'
    const ref = '${event.labels.team}-${event.payload.commit}'
    await createProject('clones', { GIT: 'marker', OTHER: 'x' }, { clone: { url, ref, secret: 'GIT' } })
    await createEvent('clones')
    const [worker] = await claim('clones')
    expect(worker?.config).toMatchObject({
      secrets: { OTHER: 'x' },
      clone: { url, ref: 'a-1', depth: 1, path: null, credentials: 'marker', problem: null },
    })
    expect(JSON.stringify({ ...worker?.config, clone: null })).not.toContain('marker')
    const viewer = (await as(worker?.token ?? null)) as Viewer
    const create = (name: string, spec: WorkloadInput) =>
      api.world.pipelines.createJob(viewer, { name, spec: { command: ['true'], ...spec } })
    expect(await create('shared', { workspace: true, clone: { url } })).toMatchObject({
      refusal: { fields: [{ path: 'input.spec.clone' }] },
    })
    await create('missing', { clone: { url, secret: 'NONE' } })
    await create('wrong', { clone: { url, ref: '${event.payload.none}' } })
    await create('number', { clone: { url, ref: '${event.payload.commit}' } })
    const jobs = Object.fromEntries((await claim('clones')).map(({ name, config }) => [name, config]))
    expect(jobs.missing?.clone).toMatchObject({ problem: 'The project has no secret NONE.' })
    expect(jobs.missing?.secrets).toEqual({ GIT: 'marker', OTHER: 'x' })
    expect(jobs.wrong?.clone).toMatchObject({ ref: null, problem: expect.stringContaining('none') })
    expect(jobs.number?.clone).toMatchObject({ ref: null, problem: expect.stringContaining('it is no text') })
  })

  test('what does not open is null, and nothing else is', async () => {
    await createProject('tampered', { A: 'x', B: 'y' })
    const [broken, fine] = [await createEvent('tampered'), await createEvent('tampered')]
    await api.world.pool.query(
      'update event_secret set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where event_id = $1 and name = $2',
      [broken, 'B'],
    )
    const items = await claim('tampered')
    const open = items.find(({ config }) => config !== null)
    expect(items).toHaveLength(2)
    expect(open).toMatchObject({ config: { eventId: fine, secrets: { A: 'x', B: 'y' } }, token: expect.any(String) })
    expect(items.find((item) => item !== open)).toMatchObject({ config: null, token: null })
  })

  test('secrets of another project do not open, though the key is the same', async () => {
    await createProject('rich', { KEY: 'treasure' })
    await createProject('thief')
    const eventId = await createEvent('thief')
    await api.world.pool.query(
      'insert into event_secret (event_id, name, sealed) select $1, name, sealed from secret where project_id = $2',
      [eventId, await projectId('rich')],
    )
    expect((await claim('thief'))[0]).toMatchObject({ config: null, token: null })
  })

  test('without a key: workloads of no secrets, and no tokens', async () => {
    const { clock, engineHost, pool } = api.world
    const sealing = createSealing([], clock)
    const keyless = bindPipelines({
      trees: engineHost.trees,
      system: clock,
      pool,
      sealing,
      timeouts: TIMEOUTS,
      sandbox: openSandbox(),
      verbs: {},
    })
    await createProject('bare')
    await createProject('sealed', { A: 'x' })
    await Promise.all(['bare', 'sealed'].map(createEvent))
    const given = async (type: string) =>
      (await claim(type)).map(({ objectId }) => ({ objectId, kind: 'WORKER', action: 'START' }) as never)
    expect(await keyless.claimPayloads(await given('bare'))).toMatchObject([{ config: { secrets: {} }, token: null }])
    expect(await keyless.claimPayloads(await given('sealed'))).toEqual([{ config: null, token: null }])
  })

  test('the same statements, however many are claimed', async () => {
    await createProject('few', { A: 'x' })
    await createProject('lots', { A: 'x' })
    await createEvent('few')
    for (let i = 0; i < 8; i++) await createEvent('lots')
    const { pipelines, settle } = api.world
    const measure = async (type: string) => {
      const items = (await claim(type)) as never[]
      const counted = bindPipelines({
        trees: api.world.engineHost.trees,
        system: api.world.clock,
        pool: api.services.pool,
        sealing: api.world.sealing,
        timeouts: TIMEOUTS,
        sandbox: openSandbox(),
        verbs: {},
      })
      const statements = await api.statements(() => counted.claimPayloads(items))
      return { count: items.length, statements }
    }
    expect(await measure('few')).toEqual({ count: 1, statements: 1 })
    expect(await measure('lots')).toEqual({ count: 8, statements: 1 })
    expect(await pipelines.claimPayloads([])).toEqual([])
    await settle()
  })
})

test('an event that was just created is shown without a read', async () => {
  await createProject('shown')
  const CREATE = gql(`mutation ($input: CreateEventInput!) { createEvent(input: $input) {
    __typename ... on CreatedEvents { events { id name phase revision } } ... on Error { message } } }`)
  const create = async () => {
    const { createEvent } = await api.query(CREATE, { input: { project: 'shown', source: 'git', type: 'push' } })
    return payloadOf(createEvent).events
  }
  await create()
  expect(await api.statements(create)).toBe(0)
  const [event] = await create()
  const stored = 'select id, name, phase, revision from object where id = $1'
  expect((await api.world.pool.query(stored, [event?.id])).rows).toEqual([event])
  await claim('shown')
})

describe("a worker's token", () => {
  const start = async (project: string) => {
    await createProject(project)
    const eventId = await createEvent(project)
    const [item] = await claim(project)
    if (!item?.token) throw new Error('no token was handed out')
    return { eventId, ...item, token: item.token }
  }

  test('identifies the worker and ends with it', async () => {
    const { eventId, objectId, fence, token } = await start('ending')
    const project = await projectId('ending')
    expect(token).toMatch(/^pw_[\w-]{64}$/)
    expect(await as(token)).toEqual({
      principalId: objectId,
      tokenId: objectId,
      attempt: 0,
      name: 'worker of event-1',
      actor: 'WORKER',
      grants: [{ role: 'WORKER', projectId: project }],
      projects: [project],
      types: [],
      targets: [],
      rootId: eventId,
    })
    await report(fence, 'RUNNING')
    later()
    expect(await as(token)).toMatchObject({ rootId: eventId })
    await report(fence, 'SUCCEEDED')
    later()
    expect(await as(token)).toBeNull()
  })

  test('ends with a deleted event, too', async () => {
    const { eventId, token } = await start('deleted')
    expect(await as(token)).toMatchObject({ rootId: eventId })
    await api.world.pipelines.deleteEvent(USER, { id: eventId })
    await api.world.settle()
    later()
    expect(await as(token)).toBeNull()
  })

  test('is good for nothing once a character is changed, and for no other key', async () => {
    const { objectId, token } = await start('forged')
    for (const place of [3, 10, 24, 25, 40, 66]) {
      const other = token[place] === 'A' ? 'B' : 'A'
      expect(await as(token.slice(0, place) + other + token.slice(place + 1)), `character ${place}`).toBeNull()
    }
    for (const forged of [`${token}A`, token.slice(0, -1), 'pw_', `pw_${'A'.repeat(64)}`])
      expect(await as(forged)).toBeNull()
    const { pool, clock, sealing } = api.world
    const stranger = createSealing([Buffer.alloc(32, 9)], clock)
    expect(await as(createWorkerTokens(pool, stranger).tokenOf(objectId, 0))).toBeNull()
    // An event has no token, though its id could be signed.
    const { rows } = await pool.query<{ root: string }>('select root_id as root from object where id = $1', [objectId])
    expect(await as(createWorkerTokens(pool, sealing).tokenOf(rows[0]?.root ?? '', 0))).toBeNull()
  })

  test('that is not valid any more, or another wrong one, delays nobody at the same address', async () => {
    const server = await api.serve({ trustedProxies: ['127.0.0.1'] })
    const ask = async (token: string, address: string): Promise<number> => {
      const response = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', authorization: `Bearer ${token}` },
          'x-forwarded-for': address,
        },
        body: '{"query":"{ viewer { name } }"}',
      })
      await response.body?.cancel()
      return response.status
    }
    const ended = await start('noisy')
    expect(await ask(ended.token, '192.0.2.7')).toBe(200)
    await api.world.pipelines.deleteEvent(USER, { id: ended.eventId })
    await api.world.settle()
    later()
    for (let i = 0; i < 30; i++)
      for (const token of [ended.token, 'pl_expired']) expect(await ask(token, '192.0.2.7')).toBe(401)
    expect(await ask(await api.token({ name: 'beside' }), '192.0.2.7')).toBe(200)
    const { token } = await start('beside')
    expect(await ask(token, '192.0.2.7')).toBe(200)
  })

  test('over HTTP it reads its own tree and changes nothing but jobs', async () => {
    const { eventId, token } = await start('reading')
    const server = await api.serve()
    const ask = async (query: string) => {
      const response = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ query }),
      })
      return ((await response.json()) as { data: Record<string, any> }).data
    }
    const seen = await ask(`{ viewer { role actor projects } object(id: "${eventId}") { name }
      mine: project(name: "reading") { name } other: project(name: "default") { name } }`)
    expect(seen).toEqual({
      viewer: { role: 'WORKER', actor: 'WORKER', projects: ['reading'] },
      object: { name: 'event-1' },
      mine: { name: 'reading' },
      other: null,
    })
    const otherId = await createEvent('reading')
    await api.world.settle()
    const others = await ask(`{
      object(id: "${otherId}") { name } node(id: "${otherId}") { id } tree(rootId: "${otherId}") { rootId }
      treeAt(rootId: "${otherId}", sequence: 1) { rootId }
      byPath: objectByPath(project: "reading", kind: EVENT, path: ["event-2"]) { name }
      own: objectByPath(project: "reading", kind: WORKER, path: ["event-1", "worker"]) { name }
      objects { edges { node { root { name } } } }
      theirs: phaseChanges(filter: { rootId: "${otherId}" }) { totalCount edges { node { rootId } } }
      log: phaseChanges(first: 100) { edges { node { rootId } } }
    }`)
    const { objects, log, ...rest } = others
    expect(rest).toEqual({
      object: null,
      node: null,
      tree: null,
      treeAt: null,
      byPath: null,
      own: { name: 'worker' },
      theirs: { totalCount: 0, edges: [] },
    })
    expect(objects.edges.map((edge: any) => edge.node.root.name)).toEqual(['event-1', 'event-1'])
    expect(new Set(log.edges.map((edge: any) => edge.node.rootId))).toEqual(new Set([eventId]))
    const tried = await ask(`mutation {
      setSecret(input: { project: "reading", name: "A", value: "x" }) { __typename }
      updateProject(input: { name: "reading", limits: { maxJobs: 9 } }) { __typename }
      cancelEvent(input: { id: "${eventId}" }) { __typename }
      deleteEvent(input: { id: "${eventId}" }) { __typename }
      retryEvent(input: { id: "${eventId}" }) { __typename }
      cloneEvent(input: { id: "${eventId}" }) { __typename }
      createEvent(input: { project: "reading", source: "a", type: "b" }) { __typename }
      claimWork(input: { instance: "x", types: ["reading"] }) { __typename }
    }`)
    expect(new Set(Object.values(tried).map(({ __typename }) => __typename))).toEqual(new Set(['ForbiddenError']))
  })
})
