import { afterEach, describe, expect, it } from 'vitest'
import type { DeclaredLock } from '../../../src/families/operations/rules/lock-mode.ts'
import type { TaskJob } from '../../../src/families/tasks.ts'
import { createApi } from '../../graphql/api.ts'
import { finalBy } from '../../graphql/final-by.ts'
import { logOf, pass } from '../../testkit/items.ts'
import {
  addTask,
  begin,
  claimJob,
  claimJobs,
  exclusive,
  gadget,
  jobsOf,
  journalOf,
  letGo,
  locksNow,
  reportJob,
} from '../../testkit/operations.ts'
import { accepted, refused } from '../../testkit/pipelines.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

afterEach(letGo)

const TEN = { initialMs: 10_000, factor: 1, jitter: 0 } as const
const flaky = (name: string, more: Partial<TaskJob> = {}, attempts = 3): TaskJob =>
  gadget(name, { retry: { attempts, backoff: TEN }, ...more })
const DISK = exclusive('disk')

/** Runs, fails, and is undone. */
async function fail(
  world: World,
  name = 'one',
  {
    locks = [DISK],
    code = 'GADGET_FAILED',
    retryable,
  }: { locks?: DeclaredLock[]; code?: string; retryable?: boolean } = {},
): Promise<string> {
  const run = await begin(world, name, locks)
  const error = { code, message: 'It ended with exit code 1.', ...(retryable !== undefined && { retryable }) }
  expect(await reportJob(world, { fence: run.fence, phase: 'UNDOING', error })).toBe(true)
  const undo = await claimJob(world, name)
  expect(undo.action).toBe('UNDO')
  expect(await reportJob(world, { fence: undo.fence, phase: 'FAILED' })).toBe(true)
  return undo.fence
}
async function jobOf(world: World, task: string, name = 'one') {
  const { rows } = await world.pool.query<{
    id: string
    phase: string
    uuid: string
    code: string | null
    codes: (string | null)[]
  }>(
    `select o.id, o.phase, o.job_id as uuid, s.error ->> 'code' as code,
       array(select a -> 'error' ->> 'code' from jsonb_array_elements(g.retry -> 'attempts') a) as codes
     from object o join gadget_job g on g.object_id = o.id left join object_status s on s.object_id = o.id
     where o.root_id = $1 and o.name = $2`,
    [task, name],
  )
  return rows[0] as NonNullable<(typeof rows)[0]>
}

describe('a gadget job with a retry policy', () => {
  it('runs again after it was undone, with one uuid, and holds no lock meanwhile', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one')])
    await fail(world)
    const { id, uuid, ...between } = await jobOf(world, task)
    expect(between).toMatchObject({ phase: 'PENDING', code: 'GADGET_FAILED', codes: ['GADGET_FAILED'] })
    expect(await locksNow(world)).toEqual([])
    await pass(world, 9_999)
    expect(await claimJobs(world)).toEqual([])
    await pass(world, 1)
    const run = await begin(world, 'one', [DISK])
    expect(await reportJob(world, { fence: run.fence, phase: 'DONE' })).toBe(true)
    expect(await jobOf(world, task)).toMatchObject({ phase: 'DONE', uuid, code: null, codes: ['GADGET_FAILED', null] })
    expect(await jobsOf(world, task)).toMatchObject({ task: 'SUCCEEDED' })
    expect(await journalOf(world, task, 'one')).toEqual(['START', 'UNDO_STARTED', 'UNDO', 'RETRY', 'START', 'DONE'])
    expect((await logOf(world, id)).map(({ reason }) => reason)).toContain('retry: attempt 1 of 3 ended GADGET_FAILED')
  })

  it('joins the end of the queue for its locks', async () => {
    await using world = await createWorld()
    await addTask(world, [flaky('one')])
    const run = await begin(world, 'one', [DISK])
    await addTask(world, [gadget('other')])
    const { fence } = await claimJob(world, 'other')
    await reportJob(world, { fence, phase: 'WAITING', locks: [DISK] })
    expect(await locksNow(world)).toEqual(['one has disk EXCLUSIVE', 'other wants disk EXCLUSIVE'])
    await reportJob(world, { fence: run.fence, phase: 'UNDOING', error: { code: 'A', message: '' } })
    await reportJob(world, { fence: (await claimJob(world, 'one')).fence, phase: 'FAILED' })
    expect(await locksNow(world)).toEqual(['other has disk EXCLUSIVE'])
    await pass(world, 10_000)
    await reportJob(world, { fence: (await claimJob(world, 'one')).fence, phase: 'WAITING', locks: [DISK] })
    expect(await locksNow(world)).toEqual(['other has disk EXCLUSIVE', 'one wants disk EXCLUSIVE'])
  })

  it('fails for good once its attempts are used up', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one', {}, 2), gadget('two')])
    await fail(world)
    await pass(world, 10_000)
    await fail(world, 'one', { code: 'LAST' })
    expect(await jobOf(world, task)).toMatchObject({ phase: 'FAILED', code: 'LAST', codes: ['GADGET_FAILED', 'LAST'] })
    expect(await jobsOf(world, task)).toMatchObject({ task: 'FAILED', two: 'SKIPPED' })
  })

  it.each<readonly [string, Partial<TaskJob>, Parameters<typeof fail>[2], string]>([
    ['a code that `on` lacks', { retry: { attempts: 3, on: ['OTHER'] } }, {}, 'POLICY'],
    ['a code that `not` has', { retry: { attempts: 3, not: ['GADGET_FAILED'] } }, {}, 'POLICY'],
    ['a failure that its runner calls final', {}, { retryable: false }, 'AGENT'],
  ])('does not run again after %s', async (_, more, how, final) => {
    await using api = await createApi()
    const { world } = api
    const task = await addTask(world, [flaky('one', more)])
    await fail(world, 'one', how)
    const { id, phase } = await jobOf(world, task)
    expect(phase).toBe('FAILED')
    expect(await finalBy(api, id)).toEqual([final])
  })

  it('counts no attempt for a lost runner: it is undone, and runs again in the same attempt', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one')])
    await begin(world, 'one', [DISK])
    await pass(world, 30_000)
    const undo = await claimJob(world, 'one')
    await reportJob(world, { fence: undo.fence, phase: 'RUNNING' })
    expect(await jobOf(world, task)).toMatchObject({ phase: 'RUNNING', codes: [] })
    expect(await locksNow(world)).toEqual(['one has disk EXCLUSIVE'])
  })

  it('is not attempted again when it could not be undone, though a person has it undone then', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one')])
    const run = await begin(world, 'one', [DISK])
    await reportJob(world, { fence: run.fence, phase: 'UNDOING', error: { code: 'A', message: '' } })
    const undo = await claimJob(world, 'one')
    await reportJob(world, { fence: undo.fence, phase: 'UNDO_FAILED', error: { code: 'B', message: '' } })
    const { id } = await jobOf(world, task)
    await accepted(world.operations.resolveUndo(USER, { id, decision: 'RETRY' }))
    const again = await claimJob(world, 'one')
    await reportJob(world, { fence: again.fence, phase: 'FAILED' })
    expect(await jobOf(world, task)).toMatchObject({ phase: 'FAILED', code: 'A', codes: ['A'] })
  })

  it('is not attempted again once it could not be undone after a crash', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one')])
    await begin(world, 'one', [DISK])
    await pass(world, 30_000)
    const undo = await claimJob(world, 'one')
    await reportJob(world, { fence: undo.fence, phase: 'UNDO_FAILED', error: { code: 'B', message: '' } })
    await accepted(world.operations.resolveUndo(USER, { id: (await jobOf(world, task)).id, decision: 'RETRY' }))
    const again = await claimJob(world, 'one')
    await reportJob(world, { fence: again.fence, phase: 'RUNNING' })
    const run = await claimJob(world, 'one')
    await reportJob(world, { fence: run.fence, phase: 'UNDOING', error: { code: 'A', message: '' } })
    const last = await claimJob(world, 'one')
    await reportJob(world, { fence: last.fence, phase: 'FAILED' })
    expect(await jobOf(world, task)).toMatchObject({ phase: 'FAILED', code: 'A', codes: ['A'] })
  })

  it('takes a repeated report of its undo for what it is', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one')])
    const fence = await fail(world)
    const before = await jobOf(world, task)
    expect(await reportJob(world, { fence, phase: 'FAILED' })).toBe(false)
    expect(await jobOf(world, task)).toEqual(before)
    expect(await journalOf(world, task, 'one')).toHaveLength(4)
  })

  it('refuses a timeout of an attempt, and more attempts than there may be', async () => {
    await using world = await createWorld()
    const create = (retry: NonNullable<TaskJob['retry']>) =>
      refused(world.operations.createTask(USER, { project: 'default', name: 'task', jobs: [gadget('one', { retry })] }))
    expect(await create({ attempts: 2, attemptTimeoutMs: 1_000 })).toMatchObject({
      fields: [{ path: 'input.jobs.0.retry.attemptTimeoutMs' }],
    })
    expect(await create({ attempts: 101 })).toMatchObject({ fields: [{ path: 'input.jobs.0.retry.attempts' }] })
  })
})

describe('between two attempts', () => {
  it('a cancel of the task ends the job', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one')])
    await fail(world)
    await accepted(world.operations.cancelTask(USER, { id: task }))
    await world.settle()
    expect(await jobsOf(world, task)).toEqual({ task: 'ABORTED', one: 'ABORTED' })
    await pass(world, 60_000)
    expect(await claimJobs(world)).toEqual([])
  })

  it('the failure of another job makes its own last failure final', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one'), gadget('two'), gadget('last', { dependsOn: ['one', 'two'] })])
    await fail(world)
    await fail(world, 'two', { locks: [] })
    expect(await jobsOf(world, task)).toEqual({ task: 'FAILED', one: 'FAILED', two: 'FAILED', last: 'SKIPPED' })
    expect((await jobOf(world, task)).code).toBe('GADGET_FAILED')
  })

  it('the same while it waits for its locks again', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one'), gadget('two'), gadget('last', { dependsOn: ['one', 'two'] })])
    await fail(world)
    const two = await begin(world, 'two', [DISK])
    await pass(world, 10_000)
    await reportJob(world, { fence: (await claimJob(world, 'one')).fence, phase: 'WAITING', locks: [DISK] })
    await reportJob(world, { fence: two.fence, phase: 'UNDOING', error: { code: 'A', message: '' } })
    await reportJob(world, { fence: (await claimJob(world, 'two')).fence, phase: 'FAILED' })
    expect(await jobsOf(world, task)).toMatchObject({ task: 'FAILED', one: 'FAILED', two: 'FAILED' })
    expect(await locksNow(world)).toEqual([])
  })

  it('a user tries at once, or gives up', async () => {
    await using world = await createWorld()
    const task = await addTask(world, [flaky('one')])
    await fail(world)
    const { id } = await jobOf(world, task)
    await accepted(world.services.retryNow(USER, { id }))
    await world.settle()
    expect((await jobOf(world, task)).phase).toBe('DECLARING')
    expect((await refused(world.services.giveUpRetries(USER, { id }))).type).toBe('TransitionError')
    await fail(world)
    await accepted(world.services.giveUpRetries(USER, { id }))
    await world.settle()
    expect(await jobsOf(world, task)).toEqual({ task: 'FAILED', one: 'FAILED' })
    expect((await logOf(world, id)).at(-1)).toMatchObject({ actor: 'USER', to: 'FAILED' })
  })
})
