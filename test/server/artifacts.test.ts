import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { FENCE_HEADER, FILE_TYPE, FOLDER_TYPE, MAX_ARTIFACT_BYTES } from '../../src/core/artifact.ts'
import type { ClaimedItem } from '../../src/core/ports/agents.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { RunningServer } from '../../src/server/server.ts'
import { createArtifacts, restoreCache, sweepArtifacts } from '../../src/store/artifacts.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { requireDescribed, unseen } from '../testkit/described.ts'
import { gql } from '../testkit/gql.ts'
import { accepted, addEvent, addJob, addProject, succeeded } from '../testkit/pipelines.ts'
import { until } from '../testkit/wait.ts'
import { USER } from '../testkit/world.ts'
import { call, metric, refusals } from './call.ts'

/** Content of artifacts: who writes and reads it, what is refused, and what a client that is slow or gone leaves behind. */

let api: Api
let server: RunningServer
let admin: string
let agent: { readonly token: string; readonly viewer: Viewer }
beforeAll(async () => {
  api = await createApi()
  admin = await api.token({ name: 'admin' })
  agent = await agentOf('runtime')
  server = await api.serve()
  await addProject(api.world, 'shop', { workerTemplate: { command: ['true'], artifacts: [DIST] } })
})
afterAll(() => api[Symbol.asyncDispose]())

const DIST = { name: 'dist', path: 'out', when: 'SUCCESS', optional: false } as const
const artifactsNamed = (...names: readonly string[]) => names.map((name) => ({ ...DIST, name }))

async function agentOf(name: string) {
  const token = await api.token({ name, role: 'AGENT', actor: 'RUNTIME' })
  const viewer = await api.world.tokens.authenticate(token)
  if (!viewer) throw new Error('the token is unknown')
  return { token, viewer }
}

async function claim(viewer: Viewer = agent.viewer): Promise<readonly ClaimedItem[]> {
  const request = { instance: 'here', types: ['process'], targets: ['here'], max: 500, leaseMs: 30_000 }
  const { items } = await accepted(api.world.engineHost.agents.claim(viewer, request))
  await api.world.settle()
  return items
}

/** An event whose worker runs, with jobs that leave these artifacts. */
async function event(jobs: Readonly<Record<string, readonly string[]>> = {}) {
  const id = await addEvent(api.world, 'shop')
  const worker = (await claim()).find(({ kind }) => kind === 'WORKER') as ClaimedItem
  await api.world.report({ fence: worker.fence, phase: 'RUNNING' }, agent.viewer)
  for (const [name, left] of Object.entries(jobs))
    await addJob(api.world, id, name, { command: ['true'], artifacts: artifactsNamed(...left) })
  const items = new Map((await claim()).map((item) => [item.name, item]))
  for (const { fence } of items.values()) await api.world.report({ fence, phase: 'RUNNING' }, agent.viewer)
  return { id, worker, job: (name: string) => items.get(name) as ClaimedItem }
}

interface Put {
  readonly name?: string
  readonly fence?: string
  readonly token?: string
  readonly type?: string
  readonly port?: number
}
const put = (
  item: ClaimedItem,
  body: Buffer,
  { name = 'dist', fence = item.fence, token = agent.token, type = FILE_TYPE, port = server.port }: Put = {},
) =>
  call(port, `/artifacts/${item.objectId}/${name}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': type, [FENCE_HEADER]: fence },
    body,
  })

/** As bytes. */
async function get(id: string, token: string, method = 'GET', { url } = server) {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/artifacts/${id}`, { method, headers })
  const content = Buffer.from(await answer.arrayBuffer())
  const type = answer.headers.get('content-type') ?? undefined
  requireDescribed(method, `/artifacts/${id}`, { status: answer.status, type, body: content.toString('latin1') })
  return { status: answer.status, headers: answer.headers, content }
}

const LEFT = gql(`query LeftArtifacts($id: ID!) { object(id: $id) {
  ... on Event { artifacts { totalCount edges { node { id name size sha256 mediaType fileName path expiresAt object { name } } } } }
} }`)
async function leftBy(id: string) {
  const { object } = await api.query(LEFT, { id })
  const { edges = [] } =
    (object as { artifacts?: { edges: { node: Record<string, unknown> }[] } } | null)?.artifacts ?? {}
  return edges.map(({ node }) => node)
}
const rows = async (table: 'artifact' | 'artifact_chunk'): Promise<number> =>
  Number((await api.world.pool.query(`select count(*) as n from ${table}`)).rows[0].n)
const codeIn = (answer: { json(): { errors: { extensions: { code: string } }[] } }) =>
  answer.json().errors[0]?.extensions.code
const sha = (content: Buffer) => createHash('sha256').update(content).digest('hex')

test('what a job leaves is read as it was, by those who may read its project, and never shown by a browser', async () => {
  const { id, job } = await event({ build: ['dist', 'page.html'] })
  const content = Buffer.from('<script>alert(1)</script>')
  const written = await put(job('build'), content, { name: 'page.html' })
  expect(written.status, written.body).toBe(201)
  expect(written.json()).toMatchObject({ size: content.length, sha256: sha(content) })
  expect((await put(job('build'), randomBytes(100_000), { type: FOLDER_TYPE })).status).toBe(201)
  const [page, dist] = await leftBy(id)
  expect(page).toMatchObject({
    name: 'page.html',
    size: 25,
    sha256: sha(content),
    mediaType: FILE_TYPE,
    object: { name: 'build' },
  })
  expect(dist).toMatchObject({ name: 'dist', size: 100_000, mediaType: FOLDER_TYPE, fileName: 'dist.tar.gz' })
  const path = page?.id as string
  const read = await get(path, await api.token({ name: 'reader', role: 'READER', projects: ['shop'] }))
  expect(read.content).toEqual(content)
  expect(Object.fromEntries(read.headers)).toMatchObject({
    'content-type': FILE_TYPE,
    'content-length': '25',
    'content-disposition': 'attachment; filename="page.html"',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'repr-digest': `sha-256=:${createHash('sha256').update(content).digest('base64')}:`,
  })
  expect(await get(path, admin, 'HEAD')).toMatchObject({ status: 200, content: Buffer.alloc(0) })
  expect((await get(path, await api.token({ name: 'other', role: 'READER', projects: ['other'] }))).status).toBe(404)
  expect((await get(path, 'wrong')).status).toBe(401)
  expect((await call(server.port, `/artifacts/${path}`, { method: 'DELETE' })).status).toBe(405)
  for (const wrong of ['x', `${path}/x`, '../graphql', randomBytes(2_000).toString('hex')])
    expect((await get(wrong, admin)).status).not.toBe(200)
})

test('a worker reads the artifacts of its own event alone', async () => {
  const [one, other] = [await event({ build: ['dist'] }), await event()]
  await put(one.job('build'), Buffer.from('x'))
  const [artifact] = await leftBy(one.id)
  const tokenOf = async ({ worker }: { worker: ClaimedItem }) =>
    (await api.services.pipelines.claimPayloads([worker]))[0]?.token ?? ''
  expect((await get(artifact?.id as string, await tokenOf(one))).status).toBe(200)
  expect((await get(artifact?.id as string, await tokenOf(other))).status).toBe(404)
  expect((await put(one.job('build'), Buffer.from('y'), { token: await tokenOf(one) })).status).toBe(403)
})

test('only the agent that has the workload writes, with its present fence, and only what the spec declares', async () => {
  const { id, job, worker } = await event({ build: ['dist'] })
  const item = job('build')
  const body = Buffer.from('x')
  const other = await agentOf('other runtime')
  for (const more of [{ fence: '' }, { fence: 'x' }, { fence: worker.fence }, { token: other.token }]) {
    const answer = await put(item, body, more)
    expect([answer.status, codeIn(answer)]).toEqual([409, 'STALE_REPORT'])
  }
  expect(codeIn(await put(item, body, { token: admin }))).toBe('FORBIDDEN')
  expect(codeIn(await put(item, body, { type: 'text/html' }))).toBe('UNSUPPORTED_MEDIA_TYPE')
  for (const name of ['other', '.dist', '%2e%2e', 'a%0d%0ab', 'd\u00edst'.normalize('NFD'), '"', 'x'.repeat(64)])
    expect(codeIn(await put(item, body, { name: encodeURI(decodeURI(name)) })), name).toBe('BAD_USER_INPUT')
  await api.world.report({ fence: item.fence, ...succeeded }, agent.viewer)
  expect(codeIn(await put(item, body))).toBe('STALE_REPORT')
  expect(await leftBy(id)).toEqual([])
})

test('a repeated upload is the first one, also if both come at the same time', async () => {
  const { id, job } = await event({ build: ['dist'], both: ['dist'] })
  const first = await put(job('build'), Buffer.from('first'))
  const again = await put(job('build'), Buffer.from('again'))
  expect(again.json()).toEqual(first.json())
  const both = await Promise.all([1, 2, 3].map((n) => put(job('both'), Buffer.alloc(300_000, n))))
  expect(new Set(both.map((answer) => answer.json().id)).size).toBe(1)
  const left = await leftBy(id)
  expect(left.map(({ sha256 }) => sha256)).toEqual([sha(Buffer.from('first')), both[0]?.json().sha256])
  const { rows: found } = await api.world.pool.query('select from artifact where completed_at is null')
  expect(found).toEqual([])
})

test('content of any size comes back as it was', async () => {
  const names = Array.from({ length: 16 }, (_, i) => `a${i}`)
  const jobs = Object.fromEntries(names.slice(0, 3).map((name) => [name, names]))
  const { job } = await event(jobs)
  const free = names.slice(0, 3).flatMap((owner) => names.map((name) => ({ owner, name })))
  const PIECE = 256 * 1_024
  const near = fc.tuple(fc.constantFrom(0, PIECE, 2 * PIECE, 3 * PIECE), fc.integer({ min: -2, max: 2 }))
  const size = fc.oneof(
    near.map(([base, more]) => Math.max(0, base + more)),
    fc.integer({ min: 0, max: 2_000_000 }),
  )
  await fc.assert(
    fc.asyncProperty(size, async (length) => {
      const at = free.pop()
      if (!at) return
      const content = randomBytes(length)
      const written = await put(job(at.owner), content, { name: at.name })
      expect(written.json()).toMatchObject({ size: length, sha256: sha(content) })
      expect((await get(written.json().id, admin)).content.equals(content)).toBe(true)
    }),
    { numRuns: 25, endOnFailure: true },
  )
})

test('what is too large is refused, and leaves nothing', async () => {
  const { job } = await event({ build: ['dist'] })
  const before = [await rows('artifact'), await rows('artifact_chunk')]
  const answer = await put(job('build'), Buffer.alloc(MAX_ARTIFACT_BYTES + 1)).catch((error: Error) => error)
  // Its end may be cut off before the client has read the answer.
  if (!(answer instanceof Error)) expect([answer.status, codeIn(answer)]).toEqual([413, 'TOO_LARGE'])
  await until(async () => (await rows('artifact')) === before[0], { what: 'nothing is left' })
  expect(await rows('artifact_chunk')).toBe(before[1])
})

test('the artifacts of a project have a quota, also if many end at the same time', async () => {
  const quotaBytes = 1_000_000
  await addProject(api.world, 'small', {
    workerTemplate: { command: ['true'], artifacts: artifactsNamed('a', 'b', 'c', 'd') },
  })
  await addEvent(api.world, 'small')
  const item = (await claim()).find(({ kind }) => kind === 'WORKER') as ClaimedItem
  const { pool, clock: system } = api.world
  const artifacts = createArtifacts({ pool, system, retentionMs: null, quotaBytes, cacheBytes: 0 })
  const write = (name: string) =>
    artifacts.write(agent.viewer, {
      ...{ objectId: item.objectId, fence: item.fence, name, isFolder: false, isCache: false },
      bytes: (async function* () {
        yield Buffer.alloc(400_000)
      })(),
    })
  const done = await Promise.all(['a', 'b', 'c'].map(write))
  expect(done.filter((one) => 'artifact' in one)).toHaveLength(2)
  expect(done.find((one) => 'refused' in one)).toMatchObject({
    refused: { code: 'LIMIT', message: expect.stringMatching(/PHASELINE_ARTIFACT_QUOTA_MIB/) },
  })
  expect(await write('d')).toMatchObject({ refused: { code: 'LIMIT' } })
})

test('an upload that breaks off leaves nothing', async () => {
  const { id, job } = await event({ build: ['dist'] })
  const before = await rows('artifact')
  const socket = connect(server.port, '127.0.0.1')
  await once(socket, 'connect')
  const { objectId, fence } = job('build')
  socket.write(
    `PUT /artifacts/${objectId}/dist HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nauthorization: Bearer ${agent.token}\r\ncontent-type: ${FILE_TYPE}\r\n${FENCE_HEADER}: ${fence}\r\ncontent-length: 1000000\r\n\r\n`,
  )
  socket.write(Buffer.alloc(600_000))
  await until(async () => (await rows('artifact')) > before, { what: 'it has begun' })
  expect(await leftBy(id)).toEqual([])
  socket.destroy()
  await until(async () => (await rows('artifact')) === before, { what: 'nothing is left' })
  // Once more, and whole.
  expect((await put(job('build'), Buffer.alloc(1_000_000))).status).toBe(201)
})

test('a reader that reads nothing is cut off, and others read meanwhile', async () => {
  const { job } = await event({ build: ['dist'] })
  const { id } = (await put(job('build'), Buffer.alloc(30_000_000))).json()
  // Long enough for who reads, also while this process stands still for a moment.
  const impatient = await api.serve({ limits: { stalledAfterMs: 3_000 } })
  const deaf = Array.from({ length: 20 }, () => {
    const socket = connect(impatient.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.pause()
    socket.write(
      `GET /artifacts/${id} HTTP/1.1\r\nhost: 127.0.0.1:${impatient.port}\r\nauthorization: Bearer ${admin}\r\n\r\n`,
    )
    return socket
  })
  expect((await get(id, admin, 'GET', impatient)).content.length).toBe(30_000_000)
  await until(async () => (await refusals(impatient, admin, 'TOO_SLOW')) >= deaf.length, { what: 'all are cut off' })
  expect(await metric(impatient, admin, 'phaseline_artifact_read_bytes_total')).toBeGreaterThan(30_000_000)
})

test('artifacts go with their event, and after their time; what was never completed goes later', async () => {
  const { pool, clock } = api.world
  const [gone, kept] = [await event({ build: ['dist'] }), await event({ build: ['dist'], old: ['dist'] })]
  for (const item of [gone.job('build'), kept.job('build'), kept.job('old')])
    expect((await put(item, Buffer.alloc(400_000))).status).toBe(201)
  while (await sweepArtifacts(pool, clock.now()));
  const [before, pieces] = [await rows('artifact'), await rows('artifact_chunk')]
  const [{ id = '' } = {}] = (await leftBy(gone.id)) as { id: string }[]
  await accepted(api.world.pipelines.deleteEvent(USER, { id: gone.id }))
  await api.world.settle()
  expect((await get(id, admin)).status).toBe(404)
  const now = clock.now()
  await pool.query(`update artifact set expires_at = $1 where object_id = $2`, [now, kept.job('old').objectId])
  expect((await leftBy(kept.id)).map(({ object }) => object)).toEqual([{ name: 'build' }])
  while (await sweepArtifacts(pool, now));
  expect([await rows('artifact'), await rows('artifact_chunk')]).toEqual([before - 2, pieces - 4])
  await pool.query(
    `insert into artifact (id, object_id, event_id, project_id, name, is_folder, created_at)
      select gen_random_uuid(), object_id, event_id, project_id, 'begun', false, $1 from artifact limit 1`,
    [now],
  )
  expect(await sweepArtifacts(pool, now)).toBe(false)
  expect(await sweepArtifacts(pool, new Date(now.getTime() + 24 * 3_600_000))).toBe(true)
  expect(await rows('artifact')).toBe(before - 2)

  // Their pieces count for a step of the sweep, too: none of them has a size.
  for (let i = 0; i < 2; i += 1)
    await pool.query(
      `with begun as (insert into artifact (id, object_id, event_id, project_id, name, is_folder, created_at)
        select gen_random_uuid(), object_id, event_id, project_id, 'begun', false, $1 from artifact limit 1 returning id)
        insert into artifact_chunk (artifact_id, ordinal, content) select id, 63, ''::bytea from begun`,
      [now],
    )
  const later = new Date(now.getTime() + 24 * 3_600_000)
  for (const left of [1, 0]) {
    expect(await sweepArtifacts(pool, later)).toBe(true)
    expect(await rows('artifact')).toBe(before - 2 + left)
  }
})

test('an entry of a cache is read, whatever characters its key has', async () => {
  const keys = ['npm-żółć-→', 'a "quoted"; it\'s *', 'plain-1.0']
  await addProject(api.world, 'keyed', {
    workerTemplate: { command: ['true'], caches: keys.map((key, i) => ({ key, restoreKeys: [], path: `${i}` })) },
  })
  await addEvent(api.world, 'keyed')
  const item = (await claim()).find(({ kind }) => kind === 'WORKER') as ClaimedItem
  const dispositions: (string | null)[] = []
  for (const key of keys) {
    const written = await put(item, Buffer.from(key), { name: `${encodeURIComponent(key)}?cache` })
    expect(written.status, written.body).toBe(201)
    const { status, headers, content } = await get(written.json().id, admin)
    expect([status, content.toString()]).toEqual([200, key])
    dispositions.push(headers.get('content-disposition'))
  }
  expect(dispositions).toEqual([
    `attachment; filename="npm-____-_"; filename*=UTF-8''npm-%C5%BC%C3%B3%C5%82%C4%87-%E2%86%92`,
    `attachment; filename="a__quoted___it_s__"; filename*=UTF-8''a%20%22quoted%22%3B%20it%27s%20%2a`,
    'attachment; filename="plain-1.0"',
  ])
})

test('a cache keeps the first content of a key, is found by it or by the longest prefix, and makes room for new ones', async () => {
  const { pool, clock: system } = api.world
  const caches = ['npm-1', 'npm-2', 'npm-x-1', 'big', 'huge'].map((key) => ({
    key,
    restoreKeys: ['npm-', 'npm-x-'],
    path: key,
  }))
  await addProject(api.world, 'cached', { workerTemplate: { command: ['true'], caches } })
  await addEvent(api.world, 'cached')
  const item = (await claim()).find(({ kind }) => kind === 'WORKER') as ClaimedItem
  const artifacts = createArtifacts({ pool, system, retentionMs: 86_400_000, quotaBytes: 0, cacheBytes: 1_000_000 })
  const save = (name: string, size: number) =>
    artifacts.write(agent.viewer, {
      ...{ objectId: item.objectId, fence: item.fence, name, isFolder: false, isCache: true },
      bytes: (async function* () {
        yield Buffer.alloc(size, name)
      })(),
    })
  const projectId = (await pool.query(`select id from project where name = 'cached'`)).rows[0].id as string
  const restore = async (key: string, restoreKeys: readonly string[] = []) =>
    (await restoreCache(pool, { projectId, key, restoreKeys, now: system.now() }))?.name ?? null
  for (const key of ['npm-1', 'npm-2', 'npm-x-1']) expect(await save(key, 1_000)).toHaveProperty('artifact')
  const [first, again] = [await save('npm-1', 1_000), await save('npm-1', 2_000)]
  expect(again).toEqual(first)
  expect(await save('other', 10)).toMatchObject({ refused: { code: 'BAD_USER_INPUT' } })
  expect(await save('huge', 1_000_001)).toMatchObject({ refused: { code: 'LIMIT' } })
  expect([await restore('npm-1', ['npm-']), await restore('npm-3', ['npm-']), await restore('npm-3')]).toEqual([
    'npm-1',
    'npm-x-1',
    null,
  ])
  expect([await restore('npm-3', ['npm-', 'npm-x-']), await restore('n', ['o', 'n'])]).toEqual(['npm-x-1', 'npm-x-1'])
  expect(await restore('_', ['%'])).toBeNull()
  const elsewhere = (await pool.query(`select id from project where name = 'shop'`)).rows[0].id as string
  expect(
    await restoreCache(pool, { projectId: elsewhere, key: 'npm-1', restoreKeys: ['n'], now: system.now() }),
  ).toBeNull()

  // The least recently used go first.
  system.advance(1_000)
  await restore('npm-1')
  system.advance(1_000)
  await save('big', 999_000)
  expect([await restore('npm-1'), await restore('npm-2'), await restore('npm-x-1'), await restore('big')]).toEqual([
    'npm-1',
    null,
    null,
    'big',
  ])
  // An entry that is used is kept.
  system.advance(50_000_000)
  await restore('npm-1')
  system.advance(50_000_000)
  while (await sweepArtifacts(pool, system.now()));
  expect([await restore('npm-1'), await restore('big')]).toEqual(['npm-1', null])
  // One that has expired keeps no key, swept or not.
  system.advance(90_000_000)
  expect(await restore('npm-1')).toBeNull()
  const renewed = await save('npm-1', 3_000)
  expect(renewed).toMatchObject({ artifact: { size: 3_000 } })
  expect(await save('npm-1', 4_000)).toEqual(renewed)
  expect(await restore('npm-1')).toBe('npm-1')
  while (await sweepArtifacts(pool, system.now()));
  expect(await restore('npm-1')).toBe('npm-1')
  await accepted(api.world.pipelines.deleteCache(USER, { project: 'cached', key: 'npm-1' }))
  expect(await restore('npm-1')).toBeNull()
})

test('each status of openapi.json that takes an agent has come up', () => {
  const rest = unseen('/artifacts/', [204, 401, 405, 429, 500, 503]).filter((each) => !/^x-|^head .* 404/.test(each))
  expect(rest).toEqual([])
})
