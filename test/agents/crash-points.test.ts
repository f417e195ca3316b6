import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HoldingProxy, startHoldingProxy } from '../faults/holding-proxy.ts'
import { startTestApp } from '../testkit/app.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { createTask, type Gadgets, gadgets, projectFor, type Runner, startRunner, type Task } from './stepped-job.ts'

/**
 * A runner is killed with -9 at each point where a crash could matter, with a real server and real executables. The expected
 * outcome is that of "Journal" among the rules of operations.
 */

let server: ReachableServer
beforeAll(async () => {
  server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
})
afterAll(() => server[Symbol.asyncDispose]())

/** A job `x` that wants its own lock, alone, and a runner of this scene's jobs behind a proxy. */
interface Scene extends AsyncDisposable {
  readonly at: Gadgets
  readonly proxy: HoldingProxy
  readonly runner: Runner
  readonly task: Task
  readonly project: string
  readonly token: string
}
async function scene(project: string, prepare: (at: Gadgets, proxy: HoldingProxy) => Promise<void>): Promise<Scene> {
  await using starting = new AsyncDisposableStack()
  const at = starting.use(await gadgets())
  const proxy = starting.use(await startHoldingProxy(server.url))
  const token = await projectFor(server.client, project)
  await at.stepped('x')
  await at.stepped('y')
  await prepare(at, proxy)
  const runner = starting.use(startRunner({ url: proxy.url, token, folder: at.path }))
  const task = await createTask(server.client, project, 'first', [{ name: 'x', gadget: 'x', args: [lockOf(project)] }])
  const all = starting.move()
  return { at, proxy, runner, task, project, token, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
const lockOf = (project: string): string => `thing:${project}=X`

/** Another task that wants the same lock; it waits by then. */
async function rival({ project }: Scene): Promise<Task> {
  const task = await createTask(server.client, project, 'rival', [{ name: 'y', gadget: 'y', args: [lockOf(project)] }])
  await task.reaches('y', 'WAITING')
  return task
}
/** When its only lock was granted; it holds it, and nobody else. */
async function heldSince(task: Task): Promise<string> {
  const { locks } = await task.job('x')
  expect(locks).toMatchObject([{ mode: 'EXCLUSIVE', held: true, grantedAt: expect.any(String) }])
  return locks[0]?.grantedAt ?? ''
}
async function expectNoLocks({ project }: Scene): Promise<void> {
  const { locks } = await server.client.query(
    gql('query ($resource: String) { locks(resource: $resource, first: 1) { totalCount } }'),
    { resource: `thing:${project}` },
  )
  expect(locks?.totalCount).toBe(0)
}

/** A dispatched run: durable at the server, on its way to the runner. */
const dispatchesRun = ({ answer }: { readonly answer: string | null }): boolean =>
  answer?.includes('"action":"RUN"') === true
const reports =
  (phase: string) =>
  ({ request }: { readonly request: string }): boolean =>
    request.includes('reportPhases') && request.includes(`"phase":"${phase}"`)
const begun = (at: Gadgets, call: string) => until(() => at.begun('x', call), { what: `${call} has begun` })

/** The phase stays: another runner has it. */
const TAKEN_OVER = 'UNDOING GADGET_RUNNER'
const RERUN = [
  'PENDING CONTROLLER',
  'DECLARING CONTROLLER',
  'WAITING GADGET_RUNNER',
  'RUNNING CONTROLLER',
  'UNDOING CONTROLLER RUNNER_LOST',
  'RUNNING GADGET_RUNNER',
  'DONE GADGET_RUNNER',
]
const RIVAL = ['y getlocks-1 begin', 'y getlocks-1 end', 'y run-1 begin', 'y run-1 end']
/** The lines that `x` wrote, without those of `y`. */
const ofX = async (at: Gadgets) => (await at.calls()).flatMap((line) => (line.startsWith('x ') ? [line.slice(2)] : []))

/**
 * A run has crashed: its locks stay held until it is undone and has run again, and jobs that wait for them start then and
 * not before. `hold-x-undo-1` and `hold-x-run-<n>` are in place, so that each step can be inspected.
 */
async function expectUndoneAndRerun(own: Scene, since: string, rerun: string): Promise<void> {
  const { at, task } = own
  const { uuid } = await task.job('x')
  const second = await rival(own)
  await begun(at, 'undo-1')
  expect(await task.job('x')).toMatchObject({ phase: 'UNDOING', uuid })
  expect(await heldSince(task)).toBe(since)
  expect((await second.job('y')).phase).toBe('WAITING')
  await at.go('x', 'undo-1')
  await begun(at, rerun)
  expect(await task.job('x')).toMatchObject({ phase: 'RUNNING', uuid })
  expect(await heldSince(task)).toBe(since)
  expect((await second.job('y')).phase).toBe('WAITING')
  await at.go('x', rerun)

  expect(await task.ended()).toBe('SUCCEEDED')
  expect(await second.ended()).toBe('SUCCEEDED')
  expect(await task.job('x')).toMatchObject({ phase: 'DONE', uuid, exports: { call: rerun }, locks: [] })
  expect(await task.journal('x')).toBe('START UNDO_STARTED UNDO START DONE')
  expect(await task.history('x')).toEqual(RERUN)
  // Every call of its gadget names the same job.
  expect(await at.jobs('x')).toEqual([uuid])
  const calls = await at.calls()
  expect(calls.filter((line) => line.startsWith('y '))).toEqual(RIVAL)
  // The rival runs only after everything of the first is over.
  expect(calls.slice(-2)).toEqual(RIVAL.slice(-2))
  await expectNoLocks(own)
}

describe.concurrent('a runner that is killed', () => {
  it('between START and spawn: undone all the same, since the outcome is unknown, and run', async () => {
    let stopped: ReturnType<HoldingProxy['stopAt']> | undefined
    await using own = await scene('before-spawn', async (at, proxy) => {
      stopped = proxy.stopAt('ANSWER', dispatchesRun)
      for (const call of ['undo-1', 'run-1']) await at.stopAt('x', call)
    })
    const { at, runner, task } = own
    await until(() => stopped?.holds, { what: 'the run is dispatched' })
    expect((await task.job('x')).phase).toBe('RUNNING')
    expect(await task.journal('x')).toBe('START')
    const since = await heldSince(task)
    await runner.kill()
    await stopped?.letThrough()
    expect(await ofX(at)).toEqual(['getlocks-1 begin', 'getlocks-1 end'])
    await expectUndoneAndRerun(own, since, 'run-1')
    expect(await ofX(at)).toEqual([
      'getlocks-1 begin',
      'getlocks-1 end',
      'undo-1 begin',
      'undo-1 end',
      'run-1 begin',
      'run-1 end',
    ])
  })

  it('in a run: its remaining processes are killed, it is undone, and run again', async () => {
    await using own = await scene('in-run', async (at) => {
      for (const call of ['run-1', 'undo-1', 'run-2']) await at.stopAt('x', call)
    })
    const { at, runner, task } = own
    await begun(at, 'run-1')
    const since = await heldSince(task)
    await runner.kill()
    await expectUndoneAndRerun(own, since, 'run-2')
    // The first run has begun and never ended.
    expect(await ofX(at)).toEqual([
      'getlocks-1 begin',
      'getlocks-1 end',
      'run-1 begin',
      'undo-1 begin',
      'undo-1 end',
      'run-2 begin',
      'run-2 end',
    ])
  })

  const TWICE = [
    'getlocks-1 begin',
    'getlocks-1 end',
    'run-1 begin',
    'run-1 end',
    'undo-1 begin',
    'undo-1 end',
    'run-2 begin',
    'run-2 end',
  ]

  it('after exit, before DONE: the report never arrives, so it is undone and run again', async () => {
    let done: ReturnType<HoldingProxy['stopAt']> | undefined
    await using own = await scene('before-done', async (at, proxy) => {
      done = proxy.stopAt('REQUEST', reports('DONE'))
      for (const call of ['undo-1', 'run-2']) await at.stopAt('x', call)
    })
    const { at, runner, task } = own
    await until(() => done?.holds, { what: 'it is about to report' })
    expect(await ofX(at)).toEqual(TWICE.slice(0, 4))
    expect(await task.journal('x')).toBe('START')
    const since = await heldSince(task)
    await runner.kill()
    await expectUndoneAndRerun(own, since, 'run-2')
    expect(await ofX(at)).toEqual(TWICE)
  })

  it('after exit, before DONE: a report that arrives when it is being undone is refused', async () => {
    let done: ReturnType<HoldingProxy['stopAt']> | undefined
    await using own = await scene('late-done', async (at, proxy) => {
      done = proxy.stopAt('REQUEST', reports('DONE'))
      for (const call of ['undo-1', 'run-2']) await at.stopAt('x', call)
    })
    const { at, runner, task } = own
    await until(() => done?.holds, { what: 'it is about to report' })
    const since = await heldSince(task)
    await runner.kill()
    await begun(at, 'undo-1')
    expect(await done?.letThrough()).toContain('StaleReportError')
    expect((await task.job('x')).phase).toBe('UNDOING')
    await expectUndoneAndRerun(own, since, 'run-2')
    expect(await ofX(at)).toEqual(TWICE)
  })

  it('after exit, before DONE: a report that arrives in time, though after its runner’s death, counts', async () => {
    let done: ReturnType<HoldingProxy['stopAt']> | undefined
    await using own = await scene('done-in-time', async (_, proxy) => {
      done = proxy.stopAt('REQUEST', reports('DONE'))
    })
    const { at, runner, task } = own
    await until(() => done?.holds, { what: 'it is about to report' })
    await runner.kill()
    expect(await done?.letThrough()).toContain('PhaseReportAccepted')
    expect(await task.ended()).toBe('SUCCEEDED')
    expect(await task.journal('x')).toBe('START DONE')
    expect(await ofX(at)).toEqual(TWICE.slice(0, 4))
    await expectNoLocks(own)
  })

  it('after DONE, before the answer: it is over, and nothing runs again', async () => {
    let done: ReturnType<HoldingProxy['stopAt']> | undefined
    await using own = await scene('after-done', async (_, proxy) => {
      done = proxy.stopAt('ANSWER', reports('DONE'))
    })
    const { at, runner, task } = own
    await until(() => done?.holds, { what: 'it has reported' })
    await runner.kill()
    await done?.letThrough()
    expect(await task.ended()).toBe('SUCCEEDED')
    // The next runner works, and has found nothing to do for the first task.
    const second = await createTask(server.client, own.project, 'rival', [
      { name: 'y', gadget: 'y', args: [lockOf(own.project)] },
    ])
    expect(await second.ended()).toBe('SUCCEEDED')
    expect(await task.journal('x')).toBe('START DONE')
    expect(await task.history('x')).toEqual([...RERUN.slice(0, 4), 'DONE GADGET_RUNNER'])
    expect(await at.calls()).toEqual([...TWICE.slice(0, 4).map((line) => `x ${line}`), ...RIVAL])
    await expectNoLocks(own)
  })

  it('in an undo after a failure: undone again, one UNDO, FAILED with the error of the run', async () => {
    await using own = await scene('in-undo', async (at) => {
      await at.fail('x', 'run-1')
      for (const call of ['undo-1', 'undo-2']) await at.stopAt('x', call)
    })
    const { at, runner, task } = own
    await begun(at, 'undo-1')
    const since = await heldSince(task)
    expect(await task.journal('x')).toBe('START UNDO_STARTED')
    await runner.kill()
    const second = await rival(own)
    await begun(at, 'undo-2')
    expect((await task.job('x')).phase).toBe('UNDOING')
    expect(await heldSince(task)).toBe(since)
    expect((await second.job('y')).phase).toBe('WAITING')
    await at.go('x', 'undo-2')
    expect(await task.ended()).toBe('FAILED')
    expect(await second.ended()).toBe('SUCCEEDED')
    expect(await task.job('x')).toMatchObject({ phase: 'FAILED', error: { code: 'GADGET_FAILED' }, locks: [] })
    expect(await task.journal('x')).toBe('START UNDO_STARTED UNDO FAILED')
    expect(await task.history('x')).toEqual([
      ...RERUN.slice(0, 4),
      'UNDOING GADGET_RUNNER GADGET_FAILED',
      TAKEN_OVER,
      'FAILED GADGET_RUNNER GADGET_FAILED',
    ])
    expect(await at.calls().then((calls) => calls.filter((line) => !line.startsWith('y getlocks')))).toEqual([
      ...TWICE.slice(0, 4).map((line) => `x ${line}`),
      'x undo-1 begin',
      'x undo-2 begin',
      'x undo-2 end',
      ...RIVAL.slice(2),
    ])
    await expectNoLocks(own)
  })

  it('in an undo after a crash: undone again, still one UNDO, and then run again', async () => {
    await using own = await scene('in-second-undo', async (at) => {
      for (const call of ['run-1', 'undo-1', 'undo-2', 'run-2']) await at.stopAt('x', call)
    })
    const { at, runner, task } = own
    await begun(at, 'run-1')
    const since = await heldSince(task)
    await runner.kill()
    await begun(at, 'undo-1')
    await runner.kill()
    await begun(at, 'undo-2')
    expect(await task.journal('x')).toBe('START UNDO_STARTED')
    expect(await heldSince(task)).toBe(since)
    await at.go('x', 'undo-2')
    await begun(at, 'run-2')
    expect(await heldSince(task)).toBe(since)
    await at.go('x', 'run-2')
    expect(await task.ended()).toBe('SUCCEEDED')
    expect(await task.journal('x')).toBe('START UNDO_STARTED UNDO START DONE')
    expect(await task.history('x')).toEqual([...RERUN.slice(0, 5), TAKEN_OVER, ...RERUN.slice(5)])
    expect(await ofX(at)).toEqual([
      'getlocks-1 begin',
      'getlocks-1 end',
      'run-1 begin',
      'undo-1 begin',
      'undo-2 begin',
      'undo-2 end',
      'run-2 begin',
      'run-2 end',
    ])
    await expectNoLocks(own)
  })

  it('while locks are declared: just declared again', async () => {
    await using own = await scene('in-getlocks', (at) => at.stopAt('x', 'getlocks-1'))
    const { at, runner, task } = own
    await begun(at, 'getlocks-1')
    await runner.kill()
    expect(await task.ended()).toBe('SUCCEEDED')
    expect(await task.journal('x')).toBe('START DONE')
    expect(await ofX(at)).toEqual([
      'getlocks-1 begin',
      'getlocks-2 begin',
      'getlocks-2 end',
      'run-1 begin',
      'run-1 end',
    ])
  })

  it('in a clean-up: cleaned up again, one ABORT', async () => {
    await using own = await scene('in-abort', async (at) => {
      for (const call of ['run-1', 'abort-1']) await at.stopAt('x', call)
    })
    const { at, runner, task } = own
    await begun(at, 'run-1')
    await task.cancel()
    await begun(at, 'abort-1')
    await runner.kill()
    expect(await task.ended()).toBe('ABORTED')
    expect(await task.journal('x')).toBe('START ABORT')
    expect(await at.jobs('x')).toEqual([(await task.job('x')).uuid])
    expect(await ofX(at)).toEqual([
      'getlocks-1 begin',
      'getlocks-1 end',
      'run-1 begin',
      'abort-1 begin',
      'abort-2 begin',
      'abort-2 end',
    ])
    await expectNoLocks(own)
  })
})

describe('a runner that lives', () => {
  it('does not start a run whose lease has expired on arrival: another agent has it', async () => {
    let stopped: ReturnType<HoldingProxy['stopAt']> | undefined
    await using own = await scene('late-run', async (at, proxy) => {
      stopped = proxy.stopAt('ANSWER', dispatchesRun)
      for (const call of ['undo-1', 'run-1']) await at.stopAt('x', call)
    })
    const { at, task, runner } = own
    await until(() => stopped?.holds, { what: 'the run is dispatched' })
    await using _other = startRunner({ url: server.url, token: own.token, folder: at.path })
    await begun(at, 'undo-1')
    await stopped?.letThrough()
    await until(() => runner.lines.some((line) => line.includes('The lease expired before the answer')), {
      what: 'it says why it does nothing',
    })
    expect(await ofX(at)).toEqual(['getlocks-1 begin', 'getlocks-1 end', 'undo-1 begin'])
    await at.go('x', 'undo-1')
    await begun(at, 'run-1')
    await at.go('x', 'run-1')
    expect(await task.ended()).toBe('SUCCEEDED')
    expect(await task.journal('x')).toBe('START UNDO_STARTED UNDO START DONE')
    expect((await at.calls()).filter((line) => line.includes('beside'))).toEqual([])
  })
})
