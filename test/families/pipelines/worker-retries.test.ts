import { describe, expect, it } from 'vitest'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { createWorkerTokens } from '../../../src/families/pipelines/store/worker-tokens.ts'
import type { WorkloadInput } from '../../../src/projects/rules/normalise-workload.ts'
import { logOf, pass, renewed } from '../../testkit/items.ts'
import {
  accepted,
  addEvent,
  addProject,
  claimAt,
  phasesOf,
  RUNTIME,
  refused,
  runAll,
  sendReport,
  succeeded,
  TEMPLATE,
  treeOf,
  workerViewer,
} from '../../testkit/pipelines.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

const TEN = { initialMs: 10_000, factor: 1, jitter: 0 } as const
const failed = (retryable?: boolean) => ({
  phase: 'FAILED' as const,
  exports: { exitCode: 3, signal: null },
  error: { code: 'EXIT_CODE', message: 'It exited with 3.', ...(retryable !== undefined && { retryable }) },
})

async function started(world: World, template: WorkloadInput = {}, maxWorkers?: number) {
  const workerTemplate = { ...TEMPLATE, retry: { attempts: 3, backoff: TEN }, ...template }
  await addProject(world, 'p', { workerTemplate, ...(maxWorkers !== undefined && { limits: { maxWorkers } }) })
  const event = await addEvent(world, 'p')
  const [item] = await runAll(world)
  if (!item) throw new Error('nothing was claimed')
  await renewed(world, item.fence, RUNTIME, 600_000)
  return { event, worker: item.objectId, fence: item.fence }
}
const as = (event: string, attempt: number): Viewer => ({ ...workerViewer(event), attempt })
async function create(world: World, by: Viewer, name: string, spec: WorkloadInput = TEMPLATE): Promise<string> {
  const { objectId } = await accepted(world.pipelines.createJob(by, { name, spec }))
  await world.settle()
  return objectId
}
/** Ends all removals that are offered, and takes and runs what is started before and after. */
async function next(world: World) {
  const claimed = await claimAt(world)
  for (const { action, fence } of claimed) if (action === 'REMOVE') await sendReport(world, { fence, done: true })
  const items = [...claimed, ...(await claimAt(world))].filter(({ action }) => action === 'START')
  for (const { fence } of items) {
    await sendReport(world, { fence, phase: 'RUNNING' })
    await renewed(world, fence, RUNTIME, 600_000)
  }
  return items
}
const heldSlots = async (world: World): Promise<number> => {
  const { rows } = await world.pool.query<{ n: number }>(
    `select count(*)::int as n from workload w join object o on o.id = w.object_id
     where w.pool = 'WORKER' and w.state = 1 and o.phase in ('STARTING', 'RUNNING', 'UNKNOWN')`,
  )
  return rows[0]?.n ?? -1
}

describe('a worker with a retry policy', () => {
  it('is started again after its failure, with its event, and holds nothing until then', async () => {
    await using world = await createWorld()
    const { event, worker, fence } = await started(world, {}, 1)
    expect(await sendReport(world, { fence, ...failed() })).toBe(true)
    expect(await treeOf(world, event)).toMatchObject({
      event: { phase: 'PENDING', code: 'EXIT_CODE' },
      worker: { phase: 'PENDING', code: 'EXIT_CODE', exitCode: 3 },
    })
    expect(await heldSlots(world)).toBe(0)
    // Another event of the project has the slot meanwhile.
    const other = await addEvent(world, 'p')
    const [running] = await next(world)
    expect((await phasesOf(world, other)).worker).toBe('RUNNING')
    await pass(world, 10_000)
    await next(world)
    expect((await phasesOf(world, event)).worker).toBe('PENDING')
    await sendReport(world, { fence: running?.fence ?? '', ...succeeded })
    const [again] = await next(world)
    expect(again).toMatchObject({ objectId: worker, attempt: 1 })
    expect(await sendReport(world, { fence, ...failed() })).toBe('StaleReportError')
    await sendReport(world, { fence: again?.fence ?? '', ...succeeded })
    expect(await phasesOf(world, event)).toEqual({ event: 'SUCCEEDED', worker: 'SUCCEEDED' })
    const reasons = (await logOf(world, event)).map(({ actor, to, reason }) => `${actor} ${to} ${reason}`)
    expect(reasons).toContain('CONTROLLER PENDING retry: attempt 1 of 3 ended EXIT_CODE')
  })

  it('ends unfinished jobs first, inherits those that have succeeded, and creates the others again', async () => {
    await using world = await createWorld()
    const { event, fence } = await started(world, { workspace: true })
    const first = as(event, 0)
    const jobs = { good: {}, inside: { workspace: true }, bad: {}, runs: {} }
    const ids = new Map<string, string>()
    for (const [name, more] of Object.entries(jobs))
      ids.set(name, await create(world, first, name, { ...TEMPLATE, ...more }))
    for (const { objectId, fence: own } of await runAll(world)) {
      if (objectId === ids.get('bad')) await sendReport(world, { fence: own, ...failed(false) })
      else if (objectId !== ids.get('runs')) await sendReport(world, { fence: own, ...succeeded })
    }
    const waits = await create(world, first, 'waits', { ...TEMPLATE, targetLabels: [{ key: 'gpu', value: 'yes' }] })
    await sendReport(world, { fence, ...failed() })
    expect(await phasesOf(world, event)).toMatchObject({
      ...{
        worker: 'PENDING',
        good: 'SUCCEEDED',
        inside: 'SUCCEEDED',
        bad: 'FAILED',
        runs: 'ABORTED',
        waits: 'ABORTED',
      },
    })
    await pass(world, 10_000)
    const [again] = await next(world)
    expect((await phasesOf(world, event)).worker).toBe('RUNNING')

    // The attempt that has ended decides nothing any more.
    expect(await refused(world.pipelines.createJob(first, { name: 'late', spec: TEMPLATE }))).toMatchObject({
      type: 'ForbiddenError',
    })
    expect(await refused(world.pipelines.cancelJob(first, { id: waits, timedOut: false }))).toMatchObject({
      type: 'ForbiddenError',
    })

    // A database that has taken over since may have an earlier time.
    await world.pool.query("update workload set ended_at = ended_at + interval '1 hour' where pool = 'JOB'")
    const second = as(event, 1)
    expect(await create(world, second, 'good', { command: ['other'] })).toBe(ids.get('good'))
    expect((await phasesOf(world, event)).good).toBe('SUCCEEDED')
    const anew: string[] = []
    for (const [name, more] of Object.entries({ inside: { workspace: true }, bad: {}, runs: {} })) {
      const id = await create(world, second, name, { command: ['other'], ...more })
      expect(id).not.toBe(ids.get(name))
      // A repeated request is the same job.
      expect(await create(world, second, name, { command: ['other'], ...more })).toBe(id)
      anew.push(id)
    }
    expect(await phasesOf(world, event)).toMatchObject({ inside: 'STARTING', bad: 'STARTING', runs: 'STARTING' })
    const third = refused(world.pipelines.createJob(second, { name: 'bad', spec: { command: ['third'] } }))
    expect(await third).toMatchObject({ type: 'ConflictError' })
    expect((await logOf(world, ids.get('bad') ?? '')).at(-1)).toMatchObject({ actor: 'CONTROLLER', to: 'GONE' })
    const items = await next(world)
    expect(items.map(({ objectId }) => objectId).sort()).toEqual(anew.sort())
    for (const { fence: own } of items) await sendReport(world, { fence: own, ...succeeded })
    await sendReport(world, { fence: again?.fence ?? '', ...succeeded })
    expect(await phasesOf(world, event)).toEqual({
      ...{ event: 'SUCCEEDED', worker: 'SUCCEEDED', good: 'SUCCEEDED', inside: 'SUCCEEDED', bad: 'SUCCEEDED' },
      ...{ runs: 'SUCCEEDED', waits: 'ABORTED' },
    })
  })

  it('begins its next attempt once the last job has left the workspace', async () => {
    await using world = await createWorld()
    const { event, worker, fence } = await started(world, { workspace: true })
    const first = as(event, 0)
    const inside = { ...TEMPLATE, workspace: true }
    const drains = await create(world, first, 'drains', inside)
    const runs = await create(world, first, 'runs', inside)
    const outside = await create(world, first, 'outside')
    for (const { objectId, fence: own } of await runAll(world))
      if (objectId !== runs) await sendReport(world, { fence: own, ...failed(false) })
    await sendReport(world, { fence, ...failed() })
    expect((await claimAt(world)).map(({ objectId, action }) => [objectId, action])).toEqual([[runs, 'REMOVE']])
    await pass(world, 10_000)
    const removals = new Map((await claimAt(world)).map((item) => [item.objectId, item]))
    // The other one drains for a minute: nothing waits for it.
    expect([...removals.keys()].sort()).toEqual([worker, drains].sort())
    expect(removals.has(outside)).toBe(false)
    await sendReport(world, { fence: removals.get(worker)?.fence ?? '', done: true })
    expect(await claimAt(world)).toEqual([])
    await sendReport(world, { fence: removals.get(drains)?.fence ?? '', done: true })
    expect(await claimAt(world)).toEqual([])
    // Its lease is over.
    await pass(world, 30_000)
    const [last] = await claimAt(world)
    expect(last).toMatchObject({ objectId: runs, action: 'REMOVE' })
    expect((await phasesOf(world, event)).worker).toBe('PENDING')
    await sendReport(world, { fence: last?.fence ?? '', done: true })
    const items = await next(world)
    expect(items).toMatchObject([{ objectId: worker, action: 'START' }])
    expect((await phasesOf(world, event)).worker).toBe('RUNNING')
  })

  it('ends if nothing removes a job from its workspace', async () => {
    await using world = await createWorld()
    const { event, worker, fence } = await started(world, { workspace: true })
    await create(world, as(event, 0), 'inside', { ...TEMPLATE, workspace: true })
    await runAll(world)
    await sendReport(world, { fence, ...failed() })
    await pass(world, 10_000)
    for (const { objectId, fence: own } of await claimAt(world))
      if (objectId === worker) await sendReport(world, { fence: own, done: true })
    await pass(world, 299_000)
    expect((await phasesOf(world, event)).worker).toBe('PENDING')
    await pass(world, 60_000)
    expect(await treeOf(world, event)).toMatchObject({ worker: { phase: 'FAILED', code: 'EXIT_CODE' } })
  })

  it('has a token for each attempt, of which only the present one is valid', async () => {
    await using world = await createWorld()
    const { worker, fence } = await started(world)
    const { tokenOf, authenticate } = createWorkerTokens(world.pool, world.sealing)
    const [first, second] = [tokenOf(worker, 0) ?? '', tokenOf(worker, 1) ?? '']
    expect(first).toHaveLength(67)
    expect(await authenticate(first)).toMatchObject({ attempt: 0, actor: 'WORKER' })
    expect(await authenticate(second)).toBeNull()
    await sendReport(world, { fence, ...failed() })
    expect(await authenticate(first)).toBeNull()
    await pass(world, 10_000)
    await next(world)
    expect(await authenticate(first)).toBeNull()
    expect(await authenticate(second)).toMatchObject({ attempt: 1 })
    expect(await authenticate(`${second.slice(0, -1)}${second.endsWith('A') ? 'B' : 'A'}`)).toBeNull()
  })

  it.each<[string, (world: World, started: { event: string; fence: string }) => Promise<unknown>, string]>([
    ['a cancel', (world, { event }) => accepted(world.pipelines.cancelEvent(USER, { id: event })), 'ABORTED'],
    ['a final failure', (world, { fence }) => sendReport(world, { fence, ...failed(false) }), 'FAILED'],
    [
      'a pod that was deleted from outside',
      (world, { fence }) => sendReport(world, { fence, phase: 'ABORTED' }),
      'ABORTED',
    ],
    ['its timeout', (world) => pass(world, 60_000), 'TIMED_OUT'],
  ])('is not attempted again after %s', async (_, end, phase) => {
    await using world = await createWorld()
    const one = await started(world, { timeoutMs: 60_000 })
    await end(world, one)
    await world.settle()
    expect((await phasesOf(world, one.event)).event).toBe(phase)
  })

  it('uses its attempts up, and is bounded by its timeout over all of them', async () => {
    await using world = await createWorld()
    const { event, fence } = await started(world, { retry: { attempts: 2, backoff: TEN }, timeoutMs: 60_000 })
    await sendReport(world, { fence, ...failed() })
    await pass(world, 10_000)
    const [again] = await next(world)
    await sendReport(world, { fence: again?.fence ?? '', ...failed() })
    expect(await treeOf(world, event)).toMatchObject({ event: { phase: 'FAILED', code: 'EXIT_CODE' } })

    const other = await addEvent(world, 'p')
    const [slow] = await next(world)
    await pass(world, 55_000)
    await sendReport(world, { fence: slow?.fence ?? '', ...failed() })
    // The next attempt could not begin in time.
    expect(await treeOf(world, other)).toMatchObject({ event: { phase: 'FAILED' } })
  })

  it('leaves its place to a later event in its backoff (LATEST_ONLY)', async () => {
    await using world = await createWorld()
    const limits = { maxWorkers: 1, strategy: 'LATEST_ONLY' as const }
    await addProject(world, 'p', { workerTemplate: { ...TEMPLATE, retry: { attempts: 3, backoff: TEN } }, limits })
    const older = await addEvent(world, 'p')
    const [item] = await runAll(world)
    await sendReport(world, { fence: item?.fence ?? '', ...failed() })
    const other = await addEvent(world, 'p', { type: 'tag' })
    expect((await phasesOf(world, older)).event).toBe('PENDING')
    const newer = await addEvent(world, 'p')
    expect(await treeOf(world, older)).toMatchObject({
      event: { phase: 'CANCELED', code: 'SUPERSEDED' },
      worker: { phase: 'CANCELED', code: 'SUPERSEDED' },
    })
    await pass(world, 10_000)
    for (const { fence } of await next(world)) await sendReport(world, { fence, ...succeeded })
    await next(world)
    expect((await phasesOf(world, other)).event).toBe('SUCCEEDED')
    expect((await phasesOf(world, newer)).event).toBe('RUNNING')
    expect((await phasesOf(world, older)).event).toBe('CANCELED')
  })

  it('is tried at once, given up or cancelled by a person while it waits', async () => {
    await using world = await createWorld()
    const { event, worker, fence } = await started(world)
    await sendReport(world, { fence, ...failed() })
    await accepted(world.services.retryNow(USER, { id: worker }))
    await world.settle()
    const [again] = await next(world)
    await sendReport(world, { fence: again?.fence ?? '', ...failed() })
    await accepted(world.services.giveUpRetries(USER, { id: worker }))
    expect(await phasesOf(world, event)).toEqual({ event: 'FAILED', worker: 'FAILED' })

    const other = await addEvent(world, 'p')
    const [one] = await next(world)
    await sendReport(world, { fence: one?.fence ?? '', ...failed() })
    await accepted(world.pipelines.cancelEvent(USER, { id: other }))
    expect(await phasesOf(world, other)).toEqual({ event: 'CANCELED', worker: 'CANCELED' })
  })
})
