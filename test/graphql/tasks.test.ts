import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import {
  addTask,
  begin,
  broken,
  claimJobs,
  declare,
  exclusive,
  gadget,
  letGo,
  RUNNER,
  reportJob,
  shared,
} from '../testkit/operations.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { type Api, createApi } from './api.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())
afterEach(async () => {
  letGo()
  await api.world.pool.query('truncate object, work, wake, root_queue cascade')
})

const LOCKS = gql(`query ($resource: String, $after: String) { locks(resource: $resource, first: 2, after: $after) {
  totalCount pageInfo { hasNextPage endCursor }
  edges { node { resource mode held position object { name } } } } }`)

test('locks shows holders and waiters with their positions, page by page', async () => {
  const { world } = api
  for (const name of ['one', 'two', 'three']) await addTask(world, [gadget(name)], `t-${name}`)
  await begin(world, 'one', [exclusive('host:a')])
  await declare(world, 'two', [exclusive('host:a')])
  await declare(world, 'three', [shared('host:a'), shared('host:b')])
  const first = present((await api.query(LOCKS, { resource: 'host:a' })).locks)
  expect(first.totalCount).toBe(3)
  expect(first.edges.map(({ node }) => node)).toEqual([
    { resource: 'host:a', mode: 'EXCLUSIVE', held: true, position: null, object: { name: 'one' } },
    { resource: 'host:a', mode: 'EXCLUSIVE', held: false, position: 1, object: { name: 'two' } },
  ])
  const second = present((await api.query(LOCKS, { resource: 'host:a', after: first.pageInfo.endCursor })).locks)
  expect(second.edges.map(({ node }) => node)).toEqual([
    { resource: 'host:a', mode: 'SHARED', held: false, position: 2, object: { name: 'three' } },
  ])
  expect((await api.query(LOCKS, {})).locks?.totalCount).toBe(4)
  expect((await api.query(LOCKS, {}, viewerOf('USER', { projects: [v7()] }))).locks?.totalCount).toBe(0)
  const { id: rootId } = await world.see('t-one')
  const ofOneTree = present((await api.query(LOCKS, {}, viewerOf('READER', { rootId }))).locks)
  expect([ofOneTree.totalCount, ofOneTree.edges.map(({ node }) => node.object?.name)]).toEqual([1, ['one']])
})

test('blockedBy says which lock a job waits for, who has it and who comes before', async () => {
  const { world } = api
  const ids: Record<string, string> = {}
  for (const name of ['one', 'two', 'three']) ids[name] = await addTask(world, [gadget(name)], `b-${name}`)
  await begin(world, 'one', [exclusive('host:a')])
  await declare(world, 'two', [exclusive('host:a')])
  await declare(world, 'three', [shared('host:a')])
  const asked = await api.query(
    gql(`query ($id: ID!) { object(id: $id) { blockedBy { reason message } children(first: 1) { edges { node { blockedBy {
      reason ... on LockBlocker { resource mode position holders { name } waiters { name } } } } } } } }`),
    { id: present(ids.three) },
  )
  // The task waits for what its job waits for.
  expect(asked.object?.blockedBy).toEqual([
    { reason: 'LOCK', message: 'host:a is wanted together with others; its place in the queue is 2.' },
    { reason: 'CHILDREN', message: 'One of its jobs has not ended.' },
  ])
  expect(asked.object?.children.edges[0]?.node.blockedBy).toEqual([
    {
      reason: 'LOCK',
      resource: 'host:a',
      mode: 'SHARED',
      position: 2,
      holders: [{ name: 'one' }],
      waiters: [{ name: 'two' }],
    },
  ])
})

test('a task whose jobs wait for the same runner says so once', async () => {
  const { world } = api
  const id = await addTask(
    world,
    [gadget('first'), gadget('second'), gadget('third', { dependsOn: ['first'] })],
    'alike',
  )
  await world.settle()
  const { object } = await api.query(gql('query ($id: ID!) { object(id: $id) { blockedBy { reason message } } }'), {
    id,
  })
  expect(object?.blockedBy).toEqual([
    { reason: 'AGENT', message: 'No gadget runner was heard of within the last minute.' },
    { reason: 'CHILDREN', message: '3 of its jobs have not ended.' },
  ])
})

test('a job shows its record: uuid, gadget, parameters, locks, activity, journal and exports', async () => {
  const { world } = api
  const id = await addTask(world, [gadget('one', { args: ['a', 'b'] })], 'record')
  const run = await begin(world, 'one', [exclusive('host:a')])
  await world.engineHost.agents.report(RUNNER, [
    { fence: run.fence, progress: { step: 'Copying', value: 1, total: 4, unit: 'GiB' } },
  ])
  const read = async () => {
    const { object } = await api.query(
      gql(`query ($id: ID!) { object(id: $id) { ... on Task { jobs(first: 5) { edges { node { phase progress { value total unit }
        ... on GadgetJob { uuid gadget args activity exports startedAt locks { resource held } journal { entry } } } } } } } }`),
      { id },
    )
    return object?.jobs?.edges[0]?.node
  }
  expect(await read()).toMatchObject({
    phase: 'RUNNING',
    uuid: run.jobId,
    gadget: 'do-it',
    args: ['a', 'b'],
    activity: 'Copying',
    progress: { value: 1, total: 4, unit: 'GiB' },
    locks: [{ resource: 'host:a', held: true }],
    journal: [{ entry: 'START' }],
  })
  await reportJob(world, { fence: run.fence, phase: 'DONE', exports: { host: 'a1' } })
  expect(await read()).toMatchObject({
    phase: 'DONE',
    exports: { host: 'a1' },
    locks: [],
    journal: [{ entry: 'START' }, { entry: 'DONE' }],
  })
})

test('the error of a task names the jobs that caused it, with what they said', async () => {
  const { world } = api
  const id = await addTask(world, [gadget('one'), gadget('two')], 'broken')
  const run = await begin(world, 'one')
  await reportJob(world, { fence: run.fence, phase: 'UNDOING', error: broken })
  const [undo] = await claimJobs(world)
  await reportJob(world, { fence: present(undo).fence, phase: 'FAILED' })
  const { object } = await api.query(
    gql(
      'query ($id: ID!) { object(id: $id) { phase error { code causeCount causes { kind name code message object { id } } } } }',
    ),
    { id },
  )
  const { retryable: _, ...said } = broken
  const cause = { kind: 'GADGET_JOB', name: 'one', ...said }
  expect(object).toEqual({
    phase: 'FAILED',
    error: { code: 'JOBS_FAILED', causeCount: 1, causes: [{ ...cause, object: { id: run.objectId } }] },
  })
})

test('verbs are judged by the rights of their mutations and by the state of the object', async () => {
  const { world } = api
  const id = await addTask(world, [gadget('one')], 'judged')
  const VERBS = gql('query ($id: ID!) { object(id: $id) { verbs { name allowed obstacle why } } }')
  expect((await api.query(VERBS, { id })).object?.verbs).toEqual([
    { name: 'cancel', allowed: true, obstacle: null, why: null },
    { name: 'pause', allowed: true, obstacle: null, why: null },
    { name: 'resume', allowed: false, obstacle: 'PHASE', why: 'It is not paused.' },
    { name: 'retry', allowed: false, obstacle: 'PHASE', why: 'It has not ended yet.' },
    { name: 'rerun', allowed: false, obstacle: 'PHASE', why: 'It has not ended yet.' },
    {
      name: 'delete',
      allowed: false,
      obstacle: 'PHASE',
      why: 'It is RUNNING: only possible in SUCCEEDED, FAILED, ABORTED.',
    },
  ])
  const why = 'It takes the role EDITOR in the project.'
  // A new task brings code.
  const again = 'It takes the role AUTHOR in the project.'
  const read = await api.query(VERBS, { id }, viewerOf('READER'))
  expect(read.object?.verbs.map((verb) => [verb.name, verb.allowed, verb.obstacle, verb.why])).toEqual([
    ...['cancel', 'pause', 'resume'].map((name) => [name, false, 'RIGHT', why]),
    ...['retry', 'rerun'].map((name) => [name, false, 'RIGHT', again]),
    ['delete', false, 'RIGHT', why],
  ])
})
