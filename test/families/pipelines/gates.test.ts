import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { type Api, createApi } from '../../graphql/api.ts'
import { present } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import {
  accepted,
  addEvent,
  addJob,
  addProject,
  claimAt,
  failed,
  phasesOf,
  refused,
  runAll,
  sendReport,
  TEMPLATE,
  treeOf,
  workerViewer,
} from '../../testkit/pipelines.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { addPrincipal, USER, type World } from '../../testkit/world.ts'

/** Workers and jobs that people, a program or the clock let start. */

const BOB = viewerOf('USER', { name: 'bob' })
const CAROL = viewerOf('USER', { name: 'carol' })
const MINUTE = 60_000

let api: Api
let world: World
beforeAll(async () => {
  api = await createApi()
  world = api.world
  for (const viewer of [BOB, CAROL]) await addPrincipal(world.pool, viewer)
})
afterAll(() => api[Symbol.asyncDispose]())

let projects = 0
/** A project whose workers wait at this gate. */
async function project(gate: object | null, more: object = {}): Promise<string> {
  const name = `gates-${++projects}`
  await addProject(world, name, { workerTemplate: { ...TEMPLATE, ...(gate && { gate }), ...more } })
  return name
}
const workerOf = async (event: string) => (await treeOf(world, event)).worker
/** An event whose worker runs, with a job that waits at this gate. */
async function withJob(gate: object) {
  const event = await addEvent(world, await project(null))
  await runAll(world)
  return { event, job: await addJob(world, event, 'deploy', { ...TEMPLATE, gate }) }
}
const wait = async (ms: number) => {
  world.clock.advance(ms)
  await world.settle()
}

/** The phase of what waits afterwards, or the refusal. */
async function ask(
  mutation: 'approve' | 'reject' | 'signal',
  viewer: Viewer,
  input: { readonly id: string; [field: string]: unknown },
) {
  const { data, errors } = await api.execute(MUTATIONS[mutation].valueOf(), { input }, viewer)
  await world.settle()
  const answer = data?.answer ?? errors
  const { __typename, message } = present(answer) as { readonly __typename: string; readonly message?: string }
  if (message !== undefined) return `${__typename}: ${message}`
  return (await world.pool.query<{ phase: string }>('select phase from object where id = $1', [input.id])).rows[0]
    ?.phase
}

const SEEN = gql(`query ($id: ID!) { object(id: $id) {
  phase error { code message }
  blockedBy { reason message source { id } ... on GateBlocker { signal opensAt } ... on DecisionBlocker { object { id } verbs { name } } }
  verbs { name allowed why }
  ... on Worker { gate { message approvalsNeeded approvals { by comment } } }
  ... on Job { gate { message approvalsNeeded approvals { by comment } } }
  history(last: 3) { edges { node { from to by reason message } } }
} }`)
const seen = async (id: string, viewer = USER) => present((await api.query(SEEN, { id }, viewer)).object)
const UNDECIDED = gql('{ objects(filter: { undecided: true }) { edges { node { id } } } }')
const undecided = async () => present((await api.query(UNDECIDED, {})).objects).edges.map(({ node }) => node.id)

test('a worker starts once another person than who has asked for its event has approved it', async () => {
  const name = await project({ approval: {}, message: 'Build what a stranger has sent?' })
  const event = await addEvent(world, name)
  const { id = '' } = (await workerOf(event)) ?? {}
  expect(await phasesOf(world, event)).toEqual({ event: 'PENDING', worker: 'PENDING' })
  expect(await seen(event, BOB)).toMatchObject({
    blockedBy: [
      {
        reason: 'DECISION',
        message: 'Waits for an approval. Build what a stranger has sent?',
        object: { id },
        verbs: [{ name: 'approve' }, { name: 'reject' }],
      },
    ],
  })
  expect((await seen(id)).history.edges).toMatchObject([
    { node: { from: null } },
    { node: { from: 'PENDING', to: 'PENDING', reason: 'APPROVAL' } },
  ])
  expect(await undecided()).toEqual([id])
  const allowed = async (viewer: Viewer) =>
    (await seen(id, viewer)).verbs.flatMap(({ name: verb, allowed: is }) => (is ? [verb] : []))
  expect(await allowed(BOB)).toEqual(expect.arrayContaining(['approve', 'reject']))
  expect(await allowed(USER)).not.toContain('approve')
  expect(await ask('approve', USER, { id })).toMatch(/^ForbiddenError: ada has written the spec, or asked for this job/)
  expect(await ask('signal', BOB, { id, name: 'go' })).toMatch(/^TransitionError: It does not wait for the signal go/)
  expect(await ask('approve', BOB, { id, comment: 'I have read it.' })).toBe('STARTING')
  expect((await seen(id)).history.edges.slice(-2)).toMatchObject([
    { node: { by: 'bob', reason: 'gate opened', message: 'Approved by bob: I have read it.' } },
    { node: { to: 'STARTING' } },
  ])
  expect(await undecided()).toEqual([])
  expect(await ask('approve', BOB, { id })).toMatch(
    /^TransitionError: It does not wait for an approval. It is STARTING/,
  )
})

test('a job waits for two of three, its worker runs on, and its event says so', async () => {
  const { event, job } = await withJob({ approval: { count: 2 } })
  expect(await phasesOf(world, event)).toEqual({ event: 'RUNNING', worker: 'RUNNING', deploy: 'PENDING' })
  expect(await seen(event)).toMatchObject({ blockedBy: [{ reason: 'DECISION', source: { id: job } }] })
  expect(await ask('approve', USER, { id: job })).toMatch(/^ForbiddenError/)
  expect(await ask('approve', BOB, { id: job })).toBe('PENDING')
  expect(await ask('approve', BOB, { id: job })).toBe('PENDING')
  expect(await seen(job)).toMatchObject({ gate: { approvalsNeeded: 2, approvals: [{ by: 'bob' }] } })
  expect(await ask('approve', CAROL, { id: job })).toBe('STARTING')
  expect(await seen(event)).toMatchObject({ blockedBy: [] })
})

test('what is rejected never starts, and its process neither', async () => {
  const { event, job } = await withJob({ approval: {} })
  expect(await ask('reject', USER, { id: job, comment: 'Not today.' })).toBe('CANCELED')
  expect(await seen(job)).toMatchObject({ error: { code: 'REJECTED', message: 'Rejected by ada: Not today.' } })
  expect(await claimAt(world)).toEqual([])
  expect(await phasesOf(world, event)).toMatchObject({ worker: 'RUNNING' })
})

test('a signal, a time and the end of a freeze open gates, and a timeout ends them', async () => {
  const now = world.clock.now().getTime()
  const at = (ms: number) => new Date(now + ms).toISOString()
  const signalled = await withJob({ signal: 'tested', schema: { type: 'object', required: ['by'] } })
  expect(await seen(signalled.job)).toMatchObject({ blockedBy: [{ reason: 'GATE', signal: 'tested' }] })
  expect(await ask('signal', BOB, { id: signalled.job, name: 'tested' })).toMatch(/^InvalidInputError/)
  expect(await ask('signal', BOB, { id: signalled.job, name: 'tested', payload: { by: 'ci' } })).toBe('STARTING')
  const timed = await withJob({ until: at(3 * MINUTE) })
  const late = await withJob({ approval: {}, timeout: '1m' })
  await wait(MINUTE / 2)
  expect(await seen(timed.job)).toMatchObject({
    phase: 'PENDING',
    blockedBy: [{ reason: 'GATE', opensAt: at(3 * MINUTE) }],
  })
  await wait(MINUTE)
  expect(await seen(late.job)).toMatchObject({ phase: 'CANCELED', error: { code: 'GATE_EXPIRED' } })
  await wait(2 * MINUTE)
  expect(await seen(timed.job)).toMatchObject({ phase: 'STARTING' })
})

test('takes no slot, and holds up nobody behind it', async () => {
  const name = await project(null)
  await accepted(world.projects.updateProject(USER, { name, limits: { maxWorkers: 1 } }))
  await accepted(world.projects.updateProject(USER, { name, workerTemplate: { ...TEMPLATE, gate: { approval: {} } } }))
  const first = await addEvent(world, name)
  await accepted(world.projects.updateProject(USER, { name, workerTemplate: TEMPLATE }))
  const second = await addEvent(world, name)
  expect(await phasesOf(world, second)).toMatchObject({ worker: 'STARTING' })
  const { id = '' } = (await workerOf(first)) ?? {}
  expect(await ask('approve', BOB, { id })).toBe('PENDING')
  expect(await seen(id)).toMatchObject({ blockedBy: [{ reason: 'CAPACITY' }] })
  await accepted(world.pipelines.cancelEvent(USER, { id: second }))
  await world.settle()
  expect(await phasesOf(world, first)).toMatchObject({ worker: 'STARTING' })
})

test('of a paused tree opens, and what waits behind it starts when the tree is resumed', async () => {
  const until = new Date(world.clock.now().getTime() + MINUTE).toISOString()
  const timed = await addEvent(world, await project({ until }))
  const approved = await addEvent(world, await project({ approval: {} }))
  const expired = await addEvent(world, await project({ approval: {}, timeout: '10s' }))
  const all = [timed, approved, expired]
  for (const id of all) await accepted(world.services.pause(USER, { id }))
  await world.settle()
  expect(await ask('approve', BOB, { id: (await workerOf(approved))?.id ?? '' })).toBe('PENDING')
  await wait(MINUTE + 1)
  const phases = () => Promise.all(all.map(async (id) => (await workerOf(id))?.phase))
  expect(await phases()).toEqual(['PENDING', 'PENDING', 'CANCELED'])
  for (const id of all) await accepted(world.services.resume(USER, { id }))
  await world.settle()
  await world.recoverStalled()
  await world.settle()
  expect(await phases()).toEqual(['STARTING', 'STARTING', 'CANCELED'])
})

test('is asked once for all attempts, and again by a retry of the event', async () => {
  const name = await project({ approval: {} }, { retry: { attempts: 2, backoff: { initialMs: 0, jitter: 0 } } })
  const event = await addEvent(world, name)
  const { id = '' } = (await workerOf(event)) ?? {}
  expect(await ask('approve', BOB, { id })).toBe('STARTING')
  for (let attempts = 0; attempts < 2; attempts++) {
    for (const { fence, action } of await runAll(world))
      if (action === 'START')
        await sendReport(world, { fence, ...failed, error: { code: 'EXIT_CODE', message: 'It exited with 3.' } })
    for (const { fence, action } of await claimAt(world))
      if (action === 'REMOVE') await sendReport(world, { fence, done: true })
    await wait(0)
  }
  expect(await phasesOf(world, event)).toMatchObject({ worker: 'FAILED' })
  const { objectId: again } = await accepted(world.pipelines.retryEvent(USER, { id: event }))
  await world.settle()
  expect(await phasesOf(world, again ?? '')).toMatchObject({ worker: 'PENDING' })
})

test('a cancel, a deletion and the end of the worker end it', async () => {
  const { event, job } = await withJob({ approval: {} })
  const other = await addJob(world, event, 'other', { ...TEMPLATE, gate: { signal: 'go' } })
  await accepted(world.pipelines.cancelJob(USER, { id: other, timedOut: false }))
  await accepted(world.pipelines.cancelEvent(USER, { id: event }))
  await world.settle()
  expect(await phasesOf(world, event)).toMatchObject({ worker: 'ABORTED', deploy: 'CANCELED', other: 'CANCELED' })
  expect(await ask('approve', BOB, { id: job })).toMatch(/^TransitionError/)
  const gone = await withJob({ approval: {} })
  await accepted(world.pipelines.deleteEvent(USER, { id: gone.event }))
  await world.settle()
  expect(await treeOf(world, gone.event)).toEqual({})
})

test.each([
  [{}, 'must have one of approval, signal, until, freeze, http'],
  [{ approval: {}, signal: 'go' }, 'must have one of'],
  [{ approval: { count: 11 } }, 'must be 1 to 10'],
  [{ approval: { roles: ['ADMIN'] } }, 'is not known here'],
  [{ approval: {}, config: 1 }, 'is not known here'],
  [{ approval: {}, timeout: 5 }, 'must be a duration'],
  [{ approval: {}, timeout: '40d' }, 'of at most 31 days'],
  [{ signal: 'a b' }, 'must be a name'],
  [{ signal: 'go', schema: { type: 'whole' } }, 'there is no such type'],
  [{ until: '2026-12-24T08:00:00Z', schema: {} }, 'is only for a gate that a signal opens'],
  [{ approval: {}, message: 'x'.repeat(5_000) }, 'at most 4096 characters'],
  ['approval', 'must be an object'],
])('a spec with the gate %j is refused', async (gate, message) => {
  const { event } = await withJob({ signal: 'go' })
  const refusal = await refused(
    world.pipelines.createJob(workerViewer(event), { name: 'wrong', spec: { ...TEMPLATE, gate } }),
  )
  expect(JSON.stringify(refusal)).toContain(message)
})
