import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { addTask, begin, claimJob, gadget, reportJob } from '../testkit/operations.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { addPrincipal, item, USER } from '../testkit/world.ts'
import { type Api, createApi } from './api.ts'

/** A request that waits is visible: on the object, in lists, blockers and the log. */

let api: Api
const OTHER = viewerOf('ADMIN', { name: 'bert' })
beforeAll(async () => {
  api = await createApi()
  await addPrincipal(api.world.pool, OTHER)
})
afterAll(() => api[Symbol.asyncDispose]())

const SEEN = gql(`query ($id: ID!) { object(id: $id) {
  phase finished deletionRequestedAt pendingRequests { verb mode by at message }
  blockedBy { reason ... on RequestBlocker { request { verb } } }
  verbs { name allowed }
  history(last: 3, includeRejected: false) { edges { node { from to by reason requested revision } } }
} }`)
const seen = async (id: string) => present((await api.query(SEEN, { id })).object)
const requests = async (id: string) =>
  (await seen(id)).pendingRequests.map(({ verb, mode, by }) => [verb, mode, by].join(' '))
const last = async (id: string) => (await seen(id)).history.edges.at(-1)?.node

const EFFECTS = gql('query ($id: ID!) { object(id: $id) { verbs { name effect } } }')

test('a reconcile says what it would run', async () => {
  const { world } = api
  const effects = async (...path: string[]) => {
    const { object } = await api.query(EFFECTS, await world.see(...path))
    return present(object).verbs.flatMap(({ name, effect }) => (effect === null ? [] : [`${name}: ${effect}`]))
  }
  const id = await world.create('effects', { deployItems: [item('one'), item('two')] })
  const [one, two] = await world.claim(2)
  expect(await effects('effects')).toEqual([
    'reconcile: Runs all 2 deploy items again with generation 1, once the running job has ended.',
    'retry: Runs what has changed or has not succeeded, at least 2 of 2 deploy items, with generation 1, once the running job has ended.',
  ])
  await world.report({ fence: one?.fence ?? '', phase: 'SUCCEEDED' })
  await world.report({ fence: two?.fence ?? '', phase: 'FAILED' })
  expect(await effects('effects')).toEqual([
    'reconcile: Runs all 2 deploy items again with generation 1.',
    'retry: Runs what has changed or has not succeeded, at least 1 of 2 deploy items, with generation 1.',
  ])
  expect(await effects('effects', 'deploy-items', 'one')).toEqual([])
  await world.remove(id, { withoutUninstall: true })
})

test('a deletion and a reconcile that wait for the running job', async () => {
  const { world } = api
  const id = await world.create('busy', { deployItems: [item('one')] })
  const [work] = await world.claim()
  const phase = 'PROGRESSING'
  expect(await seen(id)).toMatchObject({ phase, pendingRequests: [], deletionRequestedAt: null })

  await world.reconcile(id, 'IF_CHANGED')
  expect(await requests(id)).toEqual([`reconcile IF_CHANGED ${USER.name}`])
  await world.commands.reconcileInstallation(OTHER, { id, mode: 'FORCE' })
  await world.reconcile(id, 'STANDARD')
  // FORCE is the strongest, and the last who asked is named.
  expect(await requests(id)).toEqual([`reconcile FORCE ${USER.name}`])
  expect(await last(id)).toMatchObject({ from: phase, to: phase, by: USER.name, reason: 'reconcile requested, FORCE' })

  await world.commands.deleteInstallation(OTHER, { id, withoutUninstall: false, force: true })
  await world.remove(id)
  await world.reconcile(id, 'STANDARD')
  const { pendingRequests, deletionRequestedAt, blockedBy, verbs, finished } = await seen(id)
  expect(pendingRequests).toEqual([
    {
      verb: 'delete',
      mode: 'FORCE',
      by: USER.name,
      at: deletionRequestedAt,
      message: expect.stringMatching(/once the running job/),
    },
  ])
  expect(deletionRequestedAt).toMatch(/^2/)
  expect(finished).toBe(false)
  expect(blockedBy.at(-1)).toEqual({ reason: 'REQUEST', request: { verb: 'delete' } })
  expect(verbs.find(({ name }) => name === 'reconcile')).toEqual({ name: 'reconcile', allowed: false })
  expect(await last(id)).toMatchObject({
    by: USER.name,
    reason: 'delete requested, FORCE',
    requested: true,
    revision: 0,
  })

  await world.cancel(id)
  expect(await requests(id)).toEqual([`cancel  ${USER.name}`, `delete FORCE ${USER.name}`])
  const { id: itemId } = await world.see('busy', 'deploy-items', 'one')
  expect(await requests(itemId)).toEqual([`cancel  ${USER.name}`])
  // Requests are no phases: what the log says of the tree is the same without them.
  const moment = gql(
    'query ($rootId: ID!, $sequence: Sequence!) { treeAt(rootId: $rootId, sequence: $sequence) { objects { phase phaseSince } } log { head } }',
  )
  const { log } = await api.query(gql('{ log { head } }'))
  const { treeAt } = await api.query(moment, { rootId: id, sequence: log.head })
  const { phaseSince } = await api
    .query(gql('query ($id: ID!) { object(id: $id) { phaseSince } }'), { id })
    .then(({ object }) => present(object))
  expect(treeAt?.objects[0]).toEqual({ phase, phaseSince })

  await world.report({ fence: work?.fence ?? '', phase: 'ABORTED' })
  expect(await seen(id)).toMatchObject({ pendingRequests: [], deletionRequestedAt })
})

test('one that waits for `ignored`, one that the engine has made, and one of a task', async () => {
  const { world } = api
  const id = await world.create('paused', { imports: [{ name: 'p', required: false }], deployItems: [item('p')] })
  const work = (await world.claim()).find(({ name }) => name === 'p')
  await world.setData('p', 1)
  expect((await seen(id)).pendingRequests).toMatchObject([{ verb: 'reconcile', mode: 'IF_CHANGED', by: null }])
  expect(await last(id)).toMatchObject({ by: null, reason: 'reconcile requested, IF_CHANGED' })
  await world.cancel(id)
  await world.report({ fence: work?.fence ?? '', phase: 'ABORTED' })
  await world.ignore(id, true)
  await world.remove(id)
  const { phase, pendingRequests } = await seen(id)
  expect([phase, pendingRequests[0]?.verb, pendingRequests[0]?.message]).toEqual([
    'ABORTED',
    'delete',
    'Its deletion begins once `ignored` is false.',
  ])

  const task = await addTask(world, [gadget('slow')])
  const job = await begin(world, 'slow')
  await world.operations.cancelTask(OTHER, { id: task })
  await world.settle()
  expect(await requests(task)).toEqual(['cancel  bert'])
  await reportJob(world, { fence: job.fence, phase: 'ABORTING' })
  const clean = await claimJob(world, 'slow').catch(() => job)
  await reportJob(world, { fence: clean.fence, phase: 'ABORTED' })
  expect(await seen(task)).toMatchObject({ phase: 'ABORTED', pendingRequests: [] })
})
