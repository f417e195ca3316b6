import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { type Api, createApi } from '../../graphql/api.ts'
import { present } from '../../testkit/ask.ts'
import { MUTATIONS } from '../../testkit/documents.ts'
import { gql } from '../../testkit/gql.ts'
import { addTask, begin, claimJob, claimJobs, declare, gadget, jobsOf, reportJob } from '../../testkit/operations.ts'
import { accepted, refused } from '../../testkit/pipelines.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { addPrincipal, USER, type World } from '../../testkit/world.ts'

/** Gadget jobs wait at their gates when their turn comes. */

const BOB = viewerOf('USER', { name: 'bob' })
let api: Api
let world: World
beforeAll(async () => {
  api = await createApi()
  world = api.world
  await addPrincipal(world.pool, BOB)
})
afterAll(() => api[Symbol.asyncDispose]())

const SEEN = gql(`query ($id: ID!) { object(id: $id) {
  id phase error { code message } verbs { name allowed }
  blockedBy { reason message source { id } ... on DecisionBlocker { object { id } } ... on GateBlocker { opensAt } }
  history(last: 2) { edges { node { by reason message } } }
  ... on GadgetJob { gate { approvals { by } } gadgetJobSpec { gate } }
} }`)
const seen = async (id: string, viewer = USER) => present((await api.query(SEEN, { id }, viewer)).object)
const jobId = async (task: string, name: string): Promise<string> => {
  const { rows } = await world.pool.query<{ id: string }>('select id from object where root_id = $1 and name = $2', [
    task,
    name,
  ])
  return rows[0]?.id ?? ''
}
async function ask(
  mutation: 'approve' | 'reject' | 'signal',
  viewer: Viewer,
  input: { id: string; [field: string]: unknown },
) {
  const { data, errors } = await api.execute(MUTATIONS[mutation].valueOf(), { input }, viewer)
  await world.settle()
  const { __typename, message } = present(data?.answer ?? errors) as { __typename: string; message?: string }
  return message === undefined ? __typename : `${__typename}: ${message}`
}
async function run(name: string): Promise<void> {
  const { fence } = await begin(world, name)
  await reportJob(world, { fence, phase: 'DONE' })
}
/** dump, then restore behind this gate, then restart. */
async function atGate(gate: object) {
  const task = await addTask(world, [gadget('dump'), gadget('restore', { gate }), gadget('restart')])
  expect((await seen(await jobId(task, 'restore'))).blockedBy).toMatchObject([{ reason: 'DEPENDENCY' }])
  expect(await ask('approve', BOB, { id: await jobId(task, 'restore') })).toMatch(/^TransitionError/)
  await run('dump')
  return { task, restore: await jobId(task, 'restore') }
}

test('a job declares no locks before another person has approved it, and asks when its turn comes', async () => {
  const { task, restore } = await atGate({ approval: {}, message: 'Overwrite it?' })
  expect(await jobsOf(world, task)).toEqual({ task: 'RUNNING', dump: 'DONE', restore: 'PENDING', restart: 'PENDING' })
  expect(await claimJobs(world)).toEqual([])
  const blocker = { reason: 'DECISION', message: 'Waits for an approval. Overwrite it?', object: { id: restore } }
  expect(await seen(restore)).toMatchObject({
    blockedBy: [blocker],
    history: { edges: [{}, { node: { reason: 'APPROVAL', message: 'Waits for an approval. Overwrite it?' } }] },
  })
  expect((await seen(task)).blockedBy[0]).toMatchObject(blocker)
  const { verbs } = await seen(restore, BOB)
  expect(verbs.flatMap(({ name, allowed }) => (allowed ? [name] : []))).toEqual(['approve', 'reject'])
  const undecided = await api.query(gql('{ objects(filter: { undecided: true }) { edges { node { id } } } }'), {})
  expect(present(undecided.objects).edges).toEqual([{ node: { id: restore } }])
  expect(await ask('approve', USER, { id: restore })).toMatch(/^ForbiddenError: ada has written the spec, or asked/)
  expect(await ask('approve', BOB, { id: restore })).toBe('GadgetJob')
  expect(await seen(restore)).toMatchObject({ phase: 'DECLARING', gate: { approvals: [{ by: 'bob' }] } })
  await run('restore')
  await run('restart')
  expect(await jobsOf(world, task)).toMatchObject({ task: 'SUCCEEDED' })
  // A retry of the task asks again.
  const { objectId } = await accepted(world.operations.retryTask(USER, { id: task, jobs: ['restore'], name: 'again' }))
  await world.settle()
  expect(await seen(await jobId(objectId ?? '', 'restore'))).toMatchObject({
    blockedBy: [blocker].map(({ reason }) => ({ reason })),
  })
  await accepted(world.operations.cancelTask(USER, { id: objectId ?? '' }))
  await world.settle()
  expect(await jobsOf(world, objectId ?? '')).toMatchObject({ task: 'ABORTED', restore: 'ABORTED' })
})

test('a rejection fails it, and nothing after it starts', async () => {
  const { task, restore } = await atGate({ approval: {} })
  expect(await ask('reject', USER, { id: restore })).toBe('GadgetJob')
  expect(await seen(restore)).toMatchObject({
    phase: 'FAILED',
    error: { code: 'REJECTED', message: 'Rejected by ada.' },
  })
  expect(await jobsOf(world, task)).toMatchObject({ task: 'FAILED', restart: 'SKIPPED' })
})

test('a signal and a time open it, and a timeout fails it', async () => {
  const signalled = await atGate({ signal: 'checked' })
  expect(await ask('signal', BOB, { id: signalled.restore, name: 'checked' })).toBe('GadgetJob')
  expect(await seen(signalled.restore)).toMatchObject({ phase: 'DECLARING' })
  const until = new Date(world.clock.now().getTime() + 60_000).toISOString()
  const timed = await atGate({ until })
  const late = await atGate({ approval: {}, timeout: '30s' })
  expect(await seen(timed.restore)).toMatchObject({ blockedBy: [{ reason: 'GATE', opensAt: until }] })
  world.clock.advance(61_000)
  await world.settle()
  expect(await seen(timed.restore)).toMatchObject({ phase: 'DECLARING' })
  expect(await seen(late.restore)).toMatchObject({ phase: 'FAILED', error: { code: 'GATE_EXPIRED' } })
  expect((await world.pool.query('select from clock')).rowCount).toBe(0)
})

test('it is opened once for all attempts', async () => {
  const retry = { attempts: 2, backoff: { initialMs: 0, jitter: 0 } }
  const task = await addTask(world, [gadget('only', { gate: { approval: {} }, retry })])
  const only = await jobId(task, 'only')
  expect(await ask('approve', BOB, { id: only })).toBe('GadgetJob')
  const { fence } = await begin(world, 'only')
  await reportJob(world, { fence, phase: 'UNDOING', error: { code: 'GADGET_FAILED', message: 'It ended.' } })
  await reportJob(world, { fence: (await claimJob(world, 'only')).fence, phase: 'FAILED' })
  world.clock.advance(1)
  await world.settle()
  await declare(world, 'only')
  expect(await jobsOf(world, task)).toMatchObject({ only: 'RUNNING' })
})

test('a spec with a wrong gate is refused', async () => {
  const jobs = [gadget('only', { gate: { approval: { count: 0 } } })]
  const refusal = await refused(world.operations.createTask(USER, { project: 'default', name: 'wrong', jobs }))
  expect(refusal).toMatchObject({ message: expect.stringContaining('input.jobs.0.gate.approval.count') })
})
