import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  addTask,
  begin,
  broken,
  claimJob,
  claimJobs,
  declare,
  exclusive,
  gadget,
  jobsOf,
  journalOf,
  letGo,
  locksNow,
  RUNNER,
  reportJob,
  shared,
} from '../../testkit/operations.ts'
import { accepted, refused } from '../../testkit/pipelines.ts'
import { createWorld, USER, type World } from '../../testkit/world.ts'

/** Section 5 of the domain, rule by rule, with a gadget runner that is played by the test. */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  letGo()
  await world.pool.query('truncate object, work, wake, root_queue cascade')
})
const jobId = async (taskId: string, name: string): Promise<string> => {
  const { rows } = await world.pool.query<{ id: string }>('select id from object where root_id = $1 and name = $2', [
    taskId,
    name,
  ])
  return rows[0]?.id ?? ''
}
const expr = (source: string): string => `\${${source}}`

describe('a task', () => {
  test('runs its jobs one after the other when none depends on another, and succeeds when all are done', async () => {
    const id = await addTask(world, [gadget('one'), gadget('two')])
    const first = await begin(world, 'one')
    expect(await jobsOf(world, id)).toEqual({ task: 'RUNNING', one: 'RUNNING', two: 'PENDING' })
    await reportJob(world, { fence: first.fence, phase: 'DONE' })
    const second = await begin(world, 'two')
    await reportJob(world, { fence: second.fence, phase: 'DONE' })
    expect(await jobsOf(world, id)).toEqual({ task: 'SUCCEEDED', one: 'DONE', two: 'DONE' })
    expect(await journalOf(world, id, 'one')).toEqual(['START', 'DONE'])
  })

  test('is a graph when one does', async () => {
    const id = await addTask(world, [gadget('a'), gadget('b'), gadget('c', { dependsOn: ['a', 'b'] })])
    expect((await claimJobs(world)).map(({ name }) => name)).toEqual(['a', 'b'])
    expect(await jobsOf(world, id)).toMatchObject({ a: 'DECLARING', b: 'DECLARING', c: 'PENDING' })
  })

  test('a job SKIPPED by its condition satisfies those that depend on it; branches join again', async () => {
    const id = await addTask(world, [
      gadget('look'),
      gadget('create', { dependsOn: ['look'], when: expr('!jobs.look.exports.exists') }),
      gadget('use', { dependsOn: ['create', 'look'], args: [expr('jobs.look.exports.name'), 'plain'] }),
    ])
    const reconcile = await begin(world, 'look')
    await reportJob(world, { fence: reconcile.fence, phase: 'DONE', exports: { exists: true, name: 'repl' } })
    expect(await jobsOf(world, id)).toMatchObject({ create: 'SKIPPED', use: 'DECLARING' })
    const use = await claimJob(world, 'use')
    expect(use.config).toMatchObject({ gadget: 'do-it', args: ['repl', 'plain'] })
  })

  test('after a failure nothing new starts, in any branch; jobs that are DONE are not undone', async () => {
    const id = await addTask(world, [
      gadget('done'),
      gadget('bad', { dependsOn: ['done'] }),
      gadget('waits', { dependsOn: ['done'] }),
      gadget('after', { dependsOn: ['bad'] }),
      gadget('last', { dependsOn: ['waits'] }),
    ])
    const done = await begin(world, 'done')
    await reportJob(world, { fence: done.fence, phase: 'DONE' })
    const declaring = await claimJobs(world)
    const fenceOf = (name: string) => declaring.find((item) => item.name === name)?.fence ?? ''
    await reportJob(world, { fence: fenceOf('bad'), phase: 'WAITING', locks: [exclusive('host:a')] })
    await reportJob(world, { fence: fenceOf('waits'), phase: 'WAITING', locks: [exclusive('host:a')] })
    const bad = await claimJob(world, 'bad')
    await reportJob(world, { fence: bad.fence, phase: 'UNDOING', error: broken })
    await reportJob(world, { fence: (await claimJob(world, 'bad')).fence, phase: 'FAILED' })
    expect(await jobsOf(world, id)).toEqual({
      task: 'FAILED',
      done: 'DONE',
      bad: 'FAILED',
      waits: 'SKIPPED',
      after: 'SKIPPED',
      last: 'SKIPPED',
    })
    expect(await locksNow(world)).toEqual([])
  })

  test('arguments of a job that its condition skips may use what a skipped job would have exported', async () => {
    const id = await addTask(world, [
      gadget('build', { when: expr('1 > 2') }),
      gadget('push', { args: [expr('jobs.build.exports.image')], when: expr('jobs.build.phase == "DONE"') }),
      gadget('notify'),
    ])
    await world.settle()
    expect(await jobsOf(world, id)).toMatchObject({ build: 'SKIPPED', push: 'SKIPPED', notify: 'DECLARING' })
  })

  describe('nothing new starts from the moment at which a failure is known', () => {
    /** `bad` and `good` run, and `next` comes after `good`. */
    const started = async () => {
      const id = await addTask(world, [gadget('bad'), gadget('good'), gadget('next', { dependsOn: ['good'] })])
      await world.settle()
      const declaring = await claimJobs(world)
      for (const { fence } of declaring) await reportJob(world, { fence, phase: 'WAITING', locks: [] })
      const running = await claimJobs(world)
      const fenceOf = (name: string) => running.find((item) => item.name === name)?.fence ?? ''
      return { id, fenceOf }
    }

    test('while it is undone, and when it could not be', async () => {
      const { id, fenceOf } = await started()
      await reportJob(world, { fence: fenceOf('bad'), phase: 'UNDOING', error: broken })
      await reportJob(world, { fence: fenceOf('good'), phase: 'DONE' })
      expect(await jobsOf(world, id)).toEqual({ task: 'RUNNING', bad: 'UNDOING', good: 'DONE', next: 'SKIPPED' })
      await reportJob(world, { fence: (await claimJob(world, 'bad')).fence, phase: 'UNDO_FAILED', error: broken })
      expect(await jobsOf(world, id)).toMatchObject({ task: 'RUNNING', bad: 'UNDO_FAILED' })
      await accepted(world.operations.resolveUndo(USER, { id: await jobId(id, 'bad'), decision: 'RETRY' }))
      await reportJob(world, { fence: (await claimJob(world, 'bad')).fence, phase: 'FAILED' })
      expect(await jobsOf(world, id)).toEqual({ task: 'FAILED', bad: 'FAILED', good: 'DONE', next: 'SKIPPED' })
    })

    test('not while it is undone after a crash, since it may run again', async () => {
      const { id, fenceOf } = await started()
      await world.engineHost.agents.renew(RUNNER, [fenceOf('good')], 600_000)
      world.clock.advance(30_000)
      await world.settle()
      expect(await jobsOf(world, id)).toMatchObject({ bad: 'UNDOING' })
      await reportJob(world, { fence: fenceOf('good'), phase: 'DONE' })
      expect(await jobsOf(world, id)).toMatchObject({ bad: 'UNDOING', good: 'DONE', next: 'DECLARING' })
    })

    test('a task whose job could not be undone at first does not succeed if others were skipped meanwhile', async () => {
      const { id, fenceOf } = await started()
      await world.engineHost.agents.renew(RUNNER, [fenceOf('good')], 600_000)
      world.clock.advance(30_000)
      await world.settle()
      await reportJob(world, { fence: (await claimJob(world, 'bad')).fence, phase: 'UNDO_FAILED', error: broken })
      await reportJob(world, { fence: fenceOf('good'), phase: 'DONE' })
      expect(await jobsOf(world, id)).toMatchObject({ bad: 'UNDO_FAILED', good: 'DONE', next: 'SKIPPED' })
      await accepted(world.operations.resolveUndo(USER, { id: await jobId(id, 'bad'), decision: 'RETRY' }))
      await reportJob(world, { fence: (await claimJob(world, 'bad')).fence, phase: 'RUNNING' })
      await reportJob(world, { fence: (await claimJob(world, 'bad')).fence, phase: 'DONE' })
      expect(await jobsOf(world, id)).toEqual({ task: 'FAILED', bad: 'DONE', good: 'DONE', next: 'SKIPPED' })
    })
  })

  test('what cannot work is refused when it is created', async () => {
    const create = (jobs: Parameters<typeof addTask>[1]) =>
      refused(world.operations.createTask(USER, { project: 'default', name: 'wrong', jobs }))
    const paths = async (jobs: Parameters<typeof addTask>[1]) => {
      const refusal = await create(jobs)
      return 'fields' in refusal ? refusal.fields.map(({ path }) => path) : []
    }
    expect(await paths([])).toEqual(['input.jobs'])
    expect(await paths([gadget('a', { dependsOn: ['b'] }), gadget('b', { dependsOn: ['a'] })])).toContain(
      'input.jobs.0.dependsOn',
    )
    expect(await paths([gadget('a', { gadget: '../evil' })])).toEqual(['input.jobs.0.gadget'])
    expect(await paths([gadget('a'), gadget('a')])).toContain('input.jobs.1.name')
    expect(await paths([gadget('a', { args: [expr('jobs.b.exports.x')] }), gadget('b')])).toEqual([
      'input.jobs.0.args.0',
    ])
    const reserved = ['--undo', '--abort', '--getlocks', '--protocol', '--protocols=text-1.0', '--undone']
    expect(await paths([gadget('a', { args: reserved })])).toEqual([0, 1, 2, 3, 4].map((n) => `input.jobs.0.args.${n}`))
    expect(await paths([gadget('a', { when: 'yes' })])).toEqual(['input.jobs.0.when'])
    expect(await paths([gadget('a', { env: [{ name: 'PATH', value: 'x' }] })])).toEqual(['input.jobs.0.env.0.name'])
  })

  test('a condition without a result fails its job with the cause', async () => {
    const id = await addTask(world, [gadget('a'), gadget('b', { when: expr('jobs.a.exports.missing') })])
    await reportJob(world, { fence: (await begin(world, 'a')).fence, phase: 'DONE' })
    expect(await jobsOf(world, id)).toEqual({ task: 'FAILED', a: 'DONE', b: 'FAILED' })
  })
})

describe('locks', () => {
  test('are declared before, granted all or nothing, and released with the end', async () => {
    const one = await addTask(world, [gadget('one')])
    const two = await addTask(world, [gadget('two')])
    const running = await begin(world, 'one', [exclusive('host:a'), shared('host:b')])
    await declare(world, 'two', [shared('host:a'), shared('host:c')])
    expect(await jobsOf(world, two)).toMatchObject({ two: 'WAITING' })
    expect(await locksNow(world)).toEqual([
      'one has host:a EXCLUSIVE',
      'one has host:b SHARED',
      'two wants host:a SHARED',
      'two wants host:c SHARED',
    ])
    await reportJob(world, { fence: running.fence, phase: 'DONE' })
    expect(await jobsOf(world, one)).toMatchObject({ task: 'SUCCEEDED' })
    expect(await jobsOf(world, two)).toMatchObject({ two: 'RUNNING' })
    expect(await locksNow(world)).toEqual(['two has host:a SHARED', 'two has host:c SHARED'])
  })

  test('duplicates merge to the stronger mode', async () => {
    await addTask(world, [gadget('one')])
    await begin(world, 'one', [shared('host:a'), exclusive('host:a'), shared('host:a')])
    expect(await locksNow(world)).toEqual(['one has host:a EXCLUSIVE'])
  })

  test('are declared once, however long the job then waits', async () => {
    await addTask(world, [gadget('one')])
    const two = await addTask(world, [gadget('two')])
    const running = await begin(world, 'one', [exclusive('host:a')])
    await declare(world, 'two', [exclusive('host:a')])
    world.clock.advance(20_000)
    await accepted(world.engineHost.agents.renew(RUNNER, [running.fence], 30_000))
    world.clock.advance(20_000)
    await world.settle()
    expect(await claimJobs(world, 'elsewhere')).toEqual([])
    await reportJob(world, { fence: running.fence, phase: 'DONE' })
    expect(await claimJob(world, 'two')).toMatchObject({ action: 'RUN', attempt: 1 })
    expect(await jobsOf(world, two)).toMatchObject({ two: 'RUNNING' })
  })

  test.each([
    ['a name that no index holds', [exclusive('x'.repeat(3_000))]],
    ['no name', [exclusive('')]],
    ['too many', Array.from({ length: 1_001 }, (_, i) => shared(`host:${i}`))],
  ])('a declaration that cannot be kept fails its job, and holds nothing up: %s', async (_, locks) => {
    const id = await addTask(world, [gadget('one')])
    await declare(world, 'one', locks)
    expect(await jobsOf(world, id)).toEqual({ task: 'FAILED', one: 'FAILED' })
    expect(await locksNow(world)).toEqual([])
  })

  test('waiting jobs keep their place over a restart, and one that is cancelled gives it up', async () => {
    const first = await addTask(world, [gadget('first')])
    const second = await addTask(world, [gadget('second')])
    const third = await addTask(world, [gadget('third')])
    const running = await begin(world, 'first', [exclusive('host:a')])
    await declare(world, 'second', [exclusive('host:a')])
    await declare(world, 'third', [exclusive('host:a')])
    await using other = await world.second()
    await accepted(world.operations.cancelTask(USER, { id: second }))
    await other.runner.reconcile(second, false)
    await reportJob(world, { fence: running.fence, phase: 'DONE' })
    expect([await jobsOf(world, first), await jobsOf(world, second), await jobsOf(world, third)]).toMatchObject([
      { task: 'SUCCEEDED' },
      { task: 'ABORTED', second: 'ABORTED' },
      { third: 'RUNNING' },
    ])
  })

  test('a task waits only for what it needs: no failure of another holds it', async () => {
    await addTask(world, [gadget('one')])
    const two = await addTask(world, [gadget('two')])
    await begin(world, 'one', [exclusive('host:a')])
    await begin(world, 'two', [exclusive('host:b')])
    expect(await jobsOf(world, two)).toMatchObject({ two: 'RUNNING' })
  })
})

test('a lost wake request of a grant is repeated', async () => {
  await addTask(world, [gadget('one')])
  const two = await addTask(world, [gadget('two')])
  const running = await begin(world, 'one', [exclusive('host:a')])
  await declare(world, 'two', [exclusive('host:a')])
  await accepted(world.engineHost.agents.report(RUNNER, [{ fence: running.fence, phase: 'DONE' }]))
  await world.pool.query('delete from wake')
  await world.settle()
  expect(await jobsOf(world, two)).toMatchObject({ two: 'WAITING' })
  await world.recoverStalled()
  await world.settle()
  expect(await jobsOf(world, two)).toMatchObject({ two: 'RUNNING' })
})

describe('progress', () => {
  const progressOf = async (taskId: string, name: string): Promise<unknown> => {
    const { rows } = await world.pool.query<{ progress: unknown }>(
      'select progress from object_status where object_id = $1',
      [await jobId(taskId, name)],
    )
    return rows[0]?.progress ?? null
  }
  const at = (value: number) => ({ step: 'Copying', value, total: 9, unit: 'GiB' })

  test('is stored with any report, the last one too; a message without a phase describes the step', async () => {
    const id = await addTask(world, [gadget('one')])
    const { fence } = await begin(world, 'one')
    await reportJob(world, { fence, message: 'Looking around' })
    expect(await progressOf(id, 'one')).toMatchObject({ step: 'Looking around' })
    await accepted(
      world.engineHost.agents.report(RUNNER, [
        { fence, progress: at(1) },
        { fence, phase: 'UNDOING', error: broken },
      ]),
    )
    await world.settle()
    expect(await progressOf(id, 'one')).toEqual(at(1))
    const undo = await claimJob(world, 'one')
    await reportJob(world, { fence: undo.fence, phase: 'FAILED', progress: at(2), message: 'Undone' })
    expect(await progressOf(id, 'one')).toEqual(at(2))
  })

  test('is stored with a report that is repeated, and not once it is over', async () => {
    const id = await addTask(world, [gadget('one')])
    await begin(world, 'one', [exclusive('host:a')])
    await accepted(world.operations.cancelTask(USER, { id }))
    world.clock.advance(30_000)
    await world.settle()
    const abort = await claimJob(world, 'one')
    expect(await reportJob(world, { fence: abort.fence, phase: 'UNDO_FAILED', error: broken })).toBe(true)
    expect(await reportJob(world, { fence: abort.fence, phase: 'UNDO_FAILED', error: broken, progress: at(3) })).toBe(
      false,
    )
    expect(await progressOf(id, 'one')).toEqual(at(3))
    const other = await addTask(world, [gadget('two')])
    const { fence } = await begin(world, 'two')
    await reportJob(world, { fence, phase: 'DONE', progress: at(8) })
    expect(await reportJob(world, { fence, progress: at(1) })).toBe(false)
    expect(await progressOf(other, 'two')).toEqual(at(8))
  })
})

describe('recovery', () => {
  test('a failed run is undone, and keeps its error', async () => {
    const id = await addTask(world, [gadget('one')])
    const run = await begin(world, 'one', [exclusive('host:a')])
    expect(await reportJob(world, { fence: run.fence, phase: 'UNDOING', error: broken })).toBe(true)
    expect(await locksNow(world)).toEqual(['one has host:a EXCLUSIVE'])
    const undo = await claimJob(world, 'one')
    expect(undo).toMatchObject({ action: 'UNDO', config: { next: 'FAILED' } })
    await reportJob(world, { fence: undo.fence, phase: 'FAILED' })
    expect(await jobsOf(world, id)).toEqual({ task: 'FAILED', one: 'FAILED' })
    expect(await journalOf(world, id, 'one')).toEqual(['START', 'UNDO_STARTED', 'UNDO', 'FAILED'])
    const { rows } = await world.pool.query<{ error: { code: string } }>(
      'select error from object_status where object_id = $1',
      [await jobId(id, 'one')],
    )
    expect(rows[0]?.error.code).toBe('GADGET_FAILED')
  })

  test('found running after a crash: undone, locks held throughout, and run again with the same uuid', async () => {
    const id = await addTask(world, [gadget('one')])
    const run = await begin(world, 'one', [exclusive('host:a')])
    world.clock.advance(30_000)
    await world.settle()
    expect(await jobsOf(world, id)).toMatchObject({ one: 'UNDOING' })
    expect(await reportJob(world, { fence: run.fence, phase: 'DONE' })).toBe('StaleReportError')
    const undo = await claimJob(world, 'one', 'elsewhere')
    expect(undo).toMatchObject({ action: 'UNDO', config: { next: 'RUNNING' }, jobId: run.jobId })
    // A crash in the middle of the undo: undone again, still one record of it.
    world.clock.advance(30_000)
    const again = await claimJob(world, 'one')
    expect(again).toMatchObject({ action: 'UNDO', attempt: 2 })
    expect(await journalOf(world, id, 'one')).toEqual(['START', 'UNDO_STARTED'])
    await reportJob(world, { fence: again.fence, phase: 'RUNNING' })
    expect(await locksNow(world)).toEqual(['one has host:a EXCLUSIVE'])
    const rerun = await claimJob(world, 'one')
    expect(rerun).toMatchObject({ action: 'RUN', jobId: run.jobId })
    await reportJob(world, { fence: rerun.fence, phase: 'DONE' })
    expect(await journalOf(world, id, 'one')).toEqual(['START', 'UNDO_STARTED', 'UNDO', 'START', 'DONE'])
    expect(await jobsOf(world, id)).toEqual({ task: 'SUCCEEDED', one: 'DONE' })
  })

  test('an undo after a crash that has failed: not run again before an operator has had it undone', async () => {
    const id = await addTask(world, [gadget('one')])
    await begin(world, 'one', [exclusive('host:a')])
    world.clock.advance(30_000)
    await world.settle()
    const undo = await claimJob(world, 'one')
    // The runner was to say RUNNING.
    expect(await reportJob(world, { fence: undo.fence, phase: 'FAILED', error: broken })).toBe(true)
    expect(await reportJob(world, { fence: undo.fence, phase: 'FAILED', error: broken })).toBe(false)
    expect(await jobsOf(world, id)).toEqual({ task: 'RUNNING', one: 'UNDO_FAILED' })
    expect(await locksNow(world)).toEqual(['one has host:a EXCLUSIVE'])
    expect(await journalOf(world, id, 'one')).toEqual(['START', 'UNDO_STARTED'])
    await accepted(world.operations.resolveUndo(USER, { id: await jobId(id, 'one'), decision: 'RETRY' }))
    const again = await claimJob(world, 'one')
    expect(again).toMatchObject({ action: 'UNDO', config: { next: 'RUNNING' }, jobId: undo.jobId })
    expect(await reportJob(world, { fence: again.fence, phase: 'RUNNING' })).toBe(true)
    const journal = ['START', 'UNDO_STARTED', 'UNDO_STARTED', 'UNDO', 'START']
    expect(await journalOf(world, id, 'one')).toEqual(journal)
    expect(await jobsOf(world, id)).toMatchObject({ one: 'RUNNING' })
  })

  test('after a crash and a cancellation a failed undo is not ABORTED, and a retry decides the end', async () => {
    const id = await addTask(world, [gadget('one')])
    await begin(world, 'one')
    world.clock.advance(30_000)
    await world.settle()
    const undo = await claimJob(world, 'one')
    await accepted(world.operations.cancelTask(USER, { id }))
    await reportJob(world, { fence: undo.fence, phase: 'FAILED', error: broken })
    expect(await jobsOf(world, id)).toEqual({ task: 'ABORTING', one: 'UNDO_FAILED' })
    await accepted(world.operations.resolveUndo(USER, { id: await jobId(id, 'one'), decision: 'RETRY' }))
    const again = await claimJob(world, 'one')
    expect(again).toMatchObject({ action: 'UNDO', config: { next: 'ABORTED' } })
    await reportJob(world, { fence: again.fence, phase: 'ABORTED' })
    expect(await jobsOf(world, id)).toEqual({ task: 'ABORTED', one: 'ABORTED' })
  })

  test('a clean-up that has failed is tried again as a clean-up, also when that one’s runner is lost', async () => {
    const id = await addTask(world, [gadget('one')])
    await begin(world, 'one', [exclusive('host:a')])
    await accepted(world.operations.cancelTask(USER, { id }))
    world.clock.advance(30_000)
    await world.settle()
    const first = await claimJob(world, 'one')
    expect(first).toMatchObject({ action: 'ABORT' })
    await reportJob(world, { fence: first.fence, phase: 'UNDO_FAILED', error: broken })
    const retry = async () =>
      accepted(world.operations.resolveUndo(USER, { id: await jobId(id, 'one'), decision: 'RETRY' }))
    await retry()
    const second = await claimJob(world, 'one')
    expect(second).toMatchObject({ action: 'ABORT', attempt: 1 })
    // FAILED means "undone" only after a failure.
    await reportJob(world, { fence: second.fence, phase: 'FAILED', error: broken })
    expect(await jobsOf(world, id)).toMatchObject({ one: 'UNDO_FAILED' })
    await retry()
    expect(await claimJob(world, 'one')).toMatchObject({ action: 'ABORT', attempt: 1 })
    world.clock.advance(30_000)
    const again = await claimJob(world, 'one', 'elsewhere')
    expect(again).toMatchObject({ action: 'ABORT', attempt: 2 })
    expect(await locksNow(world)).toEqual(['one has host:a EXCLUSIVE'])
    expect(await reportJob(world, { fence: again.fence, phase: 'ABORTED' })).toBe(true)
    expect(await jobsOf(world, id)).toEqual({ task: 'ABORTED', one: 'ABORTED' })
    expect(await journalOf(world, id, 'one')).toEqual(['START', 'ABORT'])
  })

  test('a run is never claimed as a run again, and a declaration is just repeated', async () => {
    const id = await addTask(world, [gadget('one')])
    await claimJob(world, 'one')
    world.clock.advance(30_000)
    expect(await claimJob(world, 'one', 'elsewhere')).toMatchObject({ action: 'GET_LOCKS', attempt: 2 })
    expect(await jobsOf(world, id)).toMatchObject({ one: 'DECLARING' })
  })

  test('what could not be undone keeps its locks until an operator has decided', async () => {
    const id = await addTask(world, [gadget('one')])
    const run = await begin(world, 'one', [exclusive('host:a')])
    await reportJob(world, { fence: run.fence, phase: 'UNDOING', error: broken })
    await reportJob(world, { fence: (await claimJob(world, 'one')).fence, phase: 'UNDO_FAILED', error: broken })
    expect(await jobsOf(world, id)).toEqual({ task: 'RUNNING', one: 'UNDO_FAILED' })
    expect(await locksNow(world)).toHaveLength(1)
    const job = await jobId(id, 'one')
    await accepted(world.operations.resolveUndo(USER, { id: job, decision: 'RETRY' }))
    await reportJob(world, { fence: (await claimJob(world, 'one')).fence, phase: 'UNDO_FAILED', error: broken })
    await accepted(world.operations.resolveUndo(USER, { id: job, decision: 'GIVE_UP' }))
    await world.settle()
    expect(await jobsOf(world, id)).toEqual({ task: 'FAILED', one: 'FAILED' })
    expect(await locksNow(world)).toEqual([])
    expect((await refused(world.operations.resolveUndo(USER, { id: job, decision: 'RETRY' }))).type).toBe(
      'TransitionError',
    )
  })
})

describe('cancelling a task', () => {
  test('before anything ran: PENDING, DECLARING and WAITING jobs are ABORTED at once', async () => {
    const other = await addTask(world, [gadget('holder')])
    await begin(world, 'holder', [exclusive('host:a')])
    const id = await addTask(world, [gadget('a'), gadget('b', { dependsOn: ['a'] }), gadget('c')])
    await claimJob(world, 'a').then(({ fence }) =>
      reportJob(world, { fence, phase: 'WAITING', locks: [exclusive('host:a')] }),
    )
    await accepted(world.operations.cancelTask(USER, { id }))
    await world.settle()
    expect(await jobsOf(world, id)).toEqual({ task: 'ABORTED', a: 'ABORTED', b: 'ABORTED', c: 'ABORTED' })
    expect(await jobsOf(world, other)).toMatchObject({ holder: 'RUNNING' })
  })

  test('what runs is asked to stop, cleaned up, and ABORTED', async () => {
    const id = await addTask(world, [gadget('one')])
    const run = await begin(world, 'one', [exclusive('host:a')])
    await accepted(world.operations.cancelTask(USER, { id, reason: 'enough' }))
    await world.settle()
    const { leases } = await accepted(world.engineHost.agents.renew(RUNNER, [run.fence], 30_000))
    expect(leases).toMatchObject([{ state: 'ABORT_REQUESTED' }])
    expect(await reportJob(world, { fence: run.fence, phase: 'DONE' })).toBe('TransitionError')
    expect(await reportJob(world, { fence: run.fence, phase: 'ABORTED' })).toBe(true)
    expect(await jobsOf(world, id)).toEqual({ task: 'ABORTED', one: 'ABORTED' })
    expect(await journalOf(world, id, 'one')).toEqual(['START', 'ABORT'])
    expect(await locksNow(world)).toEqual([])
  })

  test('one whose runner is lost meanwhile is cleaned up by another', async () => {
    const id = await addTask(world, [gadget('one')])
    await begin(world, 'one')
    await accepted(world.operations.cancelTask(USER, { id }))
    world.clock.advance(30_000)
    await world.settle()
    const abort = await claimJob(world, 'one', 'elsewhere')
    expect(abort.action).toBe('ABORT')
    await reportJob(world, { fence: abort.fence, phase: 'ABORTED' })
    expect(await jobsOf(world, id)).toEqual({ task: 'ABORTED', one: 'ABORTED' })
  })

  test('what is being undone is undone to its end, and not run again', async () => {
    const id = await addTask(world, [gadget('one')])
    await begin(world, 'one')
    world.clock.advance(30_000)
    await world.settle()
    const undo = await claimJob(world, 'one')
    await accepted(world.operations.cancelTask(USER, { id }))
    await reportJob(world, { fence: undo.fence, phase: 'RUNNING' })
    expect(await jobsOf(world, id)).toEqual({ task: 'ABORTED', one: 'ABORTED' })
  })

  test('is refused once it has ended; a task is deleted only then, with its jobs', async () => {
    const id = await addTask(world, [gadget('one')])
    expect((await refused(world.operations.deleteTask(USER, { id }))).type).toBe('TransitionError')
    await reportJob(world, { fence: (await begin(world, 'one')).fence, phase: 'DONE' })
    expect((await refused(world.operations.cancelTask(USER, { id }))).type).toBe('TransitionError')
    await accepted(world.operations.deleteTask(USER, { id }))
    expect(await jobsOf(world, id)).toEqual({})
  })
})
