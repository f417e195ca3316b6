import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  accepted,
  addEvent,
  addEvents,
  addJob,
  addProject,
  claimAt,
  failed,
  phaseOf,
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

/** Section 4 of the domain, rule by rule, with a runtime that is played by the test. */

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
/** Frees the slots of one test for the next. */
afterEach(async () => {
  await world.pool.query('truncate object, work, wake, root_queue cascade')
})

const label = (key: string, value: string) => ({ key, value })
let projects = 0
async function project(input: Parameters<typeof addProject>[2] = {}): Promise<string> {
  const name = `project-${++projects}`
  await addProject(world, name, input)
  return name
}
/** A project with one event whose worker runs; the START of the worker. */
async function running(input: Parameters<typeof addProject>[2] = {}) {
  const name = await project(input)
  const id = await addEvent(world, name)
  const [start] = await runAll(world)
  if (!start) throw new Error('nothing was started')
  return { project: name, id, start }
}

describe('an event shows its worker’s phase', () => {
  test('from PENDING to its end, phase by phase', async () => {
    const id = await addEvent(world, await project())
    const [start] = await claimAt(world)
    expect(start).toMatchObject({ kind: 'WORKER', action: 'START', type: 'process', attempt: 1 })
    const commit = 'a'.repeat(40)
    const commitOf = async () =>
      (await world.pool.query('select "commit" from workload where object_id = $1', [start?.objectId])).rows
    await sendReport(world, { fence: start?.fence ?? '', phase: 'RUNNING', exports: { commit } })
    expect(await commitOf()).toEqual([{ commit }])
    await sendReport(world, { fence: start?.fence ?? '', ...failed })
    expect(await commitOf()).toEqual([{ commit }])
    const { worker, event } = await treeOf(world, id)
    const expected = ['PENDING', 'STARTING', 'RUNNING', 'FAILED']
    expect(await world.history(worker?.id ?? '')).toEqual(expected)
    expect(await world.history(id)).toEqual(expected)
    expect(event).toMatchObject({ phase: 'FAILED', code: 'EXIT_CODE' })
    expect(worker).toMatchObject({ phase: 'FAILED', code: 'EXIT_CODE', exitCode: 3 })
  })

  test.each([
    ['SUCCEEDED', succeeded],
    ['FAILED', failed],
  ] as const)('%s is accepted in STARTING: the Running message was missed', async (phase, report) => {
    const id = await addEvent(world, await project())
    const [start] = await claimAt(world)
    expect(await sendReport(world, { fence: start?.fence ?? '', ...report })).toBe(true)
    expect(await phaseOf(world, id)).toBe(phase)
  })

  test('progress is stored with any report, the last one too', async () => {
    const { id, start } = await running()
    const workerId = (await treeOf(world, id)).worker?.id ?? ''
    const progress = async () =>
      (
        await world.pool.query<{ progress: object }>('select progress from object_status where object_id = $1', [
          workerId,
        ])
      ).rows[0]?.progress
    const at = (value: number) => ({ step: 'Building', value, total: 3, unit: 'files' })
    await sendReport(world, { fence: start.fence, phase: 'RUNNING', progress: at(1) })
    expect(await progress()).toEqual(at(1))
    await sendReport(world, { fence: start.fence, message: 'Packing' })
    expect(await progress()).toMatchObject({ step: 'Packing' })
    await sendReport(world, { fence: start.fence, ...succeeded, progress: at(3) })
    expect(await progress()).toEqual(at(3))
  })

  test('a runtime that cannot start it reports the cause', async () => {
    const id = await addEvent(world, await project())
    const [start] = await claimAt(world)
    const error = { code: 'START_FAILED', message: 'There is no such program.', retryable: false }
    await sendReport(world, { fence: start?.fence ?? '', phase: 'SCHEDULING_FAILED', error })
    expect((await treeOf(world, id)).event).toMatchObject({ phase: 'SCHEDULING_FAILED', code: 'START_FAILED' })
  })
})

describe('the queue of due trees', () => {
  const isQueued = async (id: string) =>
    (await world.pool.query('select from root_queue where root_id = $1', [id])).rowCount === 1

  test('an event that has ended is not in it, unless something of it still runs', async () => {
    await addProject(world, 'queued')
    const [ended, left] = [await addEvent(world, 'queued'), await addEvent(world, 'queued')]
    const items = await runAll(world)
    expect([await isQueued(ended), await isQueued(left)]).toEqual([true, true])
    const { worker } = await treeOf(world, ended)
    const fence = items.find(({ objectId }) => objectId === worker?.id)?.fence ?? ''
    expect(await sendReport(world, { fence, ...succeeded })).toBe(true)
    // The lease of the other one, whose process may still run.
    await accepted(world.pipelines.cancelEvent(USER, { id: left }))
    expect([await isQueued(ended), await isQueued(left)]).toEqual([false, true])
  })
})

describe('terminal for good', () => {
  test.each(['RUNNING', 'FAILED', 'ABORTED', 'UNKNOWN'] as const)('%s is refused after SUCCEEDED', async (phase) => {
    const { id, start } = await running()
    await sendReport(world, { fence: start.fence, ...succeeded })
    expect(await sendReport(world, { fence: start.fence, phase })).toBe('TransitionError')
    expect(await sendReport(world, { fence: start.fence, ...succeeded })).toBe(false)
    expect(await phaseOf(world, id)).toBe('SUCCEEDED')
  })

  test('cancelling what is terminal is a TransitionError, and recorded; what does not exist a NotFoundError', async () => {
    const { id, start } = await running()
    await sendReport(world, { fence: start.fence, ...succeeded })
    expect((await refused(world.pipelines.cancelEvent(USER, { id }))).type).toBe('TransitionError')
    const { rows } = await world.pool.query('select actor, "by" from phase_change where object_id = $1 and rejected', [
      id,
    ])
    expect(rows).toEqual([{ actor: 'USER', by: 'ada' }])
    const missing = '01900000-0000-7000-8000-000000000000'
    expect((await refused(world.pipelines.cancelEvent(USER, { id: missing }))).type).toBe('NotFoundError')
  })
})

describe('cancelling a worker takes its jobs along', () => {
  test('PENDING to CANCELED, started ones to ABORTED', async () => {
    const { id, start } = await running({ limits: { maxJobs: 1 } })
    await addJob(world, id, 'first')
    await addJob(world, id, 'second')
    const [job] = await runAll(world)
    expect(job?.name).toBe('first')
    await accepted(world.pipelines.cancelEvent(USER, { id, reason: 'enough' }))
    await world.settle()
    expect(await phasesOf(world, id)).toEqual({
      event: 'ABORTED',
      worker: 'ABORTED',
      first: 'ABORTED',
      second: 'CANCELED',
    })
    // A later report is refused, since the runtime was overruled.
    expect(await sendReport(world, { fence: start.fence, phase: 'SUCCEEDED' })).toBe('TransitionError')
    expect(await sendReport(world, { fence: job?.fence ?? '', phase: 'SUCCEEDED' })).toBe('TransitionError')
  })

  test('so does the worker’s timeout', async () => {
    const { id } = await running({ workerTemplate: { ...TEMPLATE, timeoutMs: 10_000 } })
    await addJob(world, id, 'job')
    await runAll(world)
    world.clock.advance(9_999)
    await world.settle()
    expect((await phasesOf(world, id)).worker).toBe('RUNNING')
    world.clock.advance(1)
    await world.settle()
    expect(await treeOf(world, id)).toMatchObject({
      worker: { phase: 'TIMED_OUT', code: 'TIMEOUT' },
      job: { phase: 'ABORTED', code: 'WORKER_ENDED' },
    })
  })

  test('a waiting event is CANCELED, and leaves nothing to remove', async () => {
    const name = await project({ limits: { maxWorkers: 0 } })
    const id = await addEvent(world, name)
    await accepted(world.pipelines.cancelEvent(USER, { id }))
    await world.settle()
    expect((await treeOf(world, id)).worker).toMatchObject({ phase: 'CANCELED', removeAt: null })
    expect(await claimAt(world)).toEqual([])
  })
})

describe('jobs', () => {
  test('are created by their worker while it is STARTING or RUNNING, and never once it is terminal', async () => {
    const { id, start } = await running()
    await addJob(world, id, 'one')
    await sendReport(world, { fence: start.fence, ...succeeded })
    const after = world.pipelines.createJob(workerViewer(id), { name: 'two', spec: TEMPLATE })
    expect((await refused(after)).type).toBe('ForbiddenError')
    expect((await refused(world.pipelines.createJob(USER, { name: 'three', spec: TEMPLATE }))).type).toBe(
      'ForbiddenError',
    )
    expect(Object.keys(await treeOf(world, id)).sort()).toEqual(['event', 'one', 'worker'])
  })

  test('are created while the worker is UNKNOWN too, since its own token proves that it lives, and wait in the queue', async () => {
    const { id, start } = await running({ limits: { maxJobs: 1 }, workerTemplate: { ...TEMPLATE, workspace: true } })
    world.clock.advance(30_000)
    await world.settle()
    expect(await phaseOf(world, id)).toBe('UNKNOWN')
    await addJob(world, id, 'one', { ...TEMPLATE, workspace: true })
    await addJob(world, id, 'two')
    expect(await phasesOf(world, id)).toMatchObject({ worker: 'UNKNOWN', one: 'STARTING', two: 'PENDING' })
    // A job that uses the workspace waits for the runtime that has it.
    expect(await claimAt(world, 'elsewhere')).toEqual([])
    await accepted(world.engineHost.agents.renew(RUNTIME, [start.fence], 30_000))
    await sendReport(world, { fence: start.fence, phase: 'RUNNING' })
    const [one] = await runAll(world)
    await sendReport(world, { fence: one?.fence ?? '', ...succeeded })
    expect(await phasesOf(world, id)).toEqual({
      event: 'RUNNING',
      worker: 'RUNNING',
      one: 'SUCCEEDED',
      two: 'STARTING',
    })
  })

  test('of a worker whose runtime does not come back end with it and free their slots', async () => {
    const { id } = await running({ limits: { maxJobs: 1 } })
    world.clock.advance(30_000)
    await world.settle()
    await addJob(world, id, 'one')
    await addJob(world, id, 'two')
    world.clock.advance(300_000)
    await world.settle()
    expect(await phasesOf(world, id)).toMatchObject({ worker: 'FAILED', two: 'CANCELED' })
    expect(['SCHEDULING_FAILED', 'ABORTED']).toContain((await phasesOf(world, id)).one)
    const { rows } = await world.pool.query(
      "select count(*)::integer as held from workload where state = 1 and pool = 'JOB'",
    )
    expect(rows).toEqual([{ held: 0 }])
  })

  test('the same name with the same spec is the same job; with another one it is taken', async () => {
    const { id } = await running()
    const job = await addJob(world, id, 'build')
    expect(await addJob(world, id, 'build')).toBe(job)
    const other = world.pipelines.createJob(workerViewer(id), { name: 'build', spec: { command: ['false'] } })
    expect(await refused(other)).toMatchObject({ type: 'ConflictError', code: 'ALREADY_EXISTS', objectId: job })
  })

  test('their outcome has no bearing on the worker’s phase', async () => {
    const { id, start } = await running()
    await addJob(world, id, 'job')
    const [job] = await runAll(world)
    await sendReport(world, { fence: job?.fence ?? '', ...failed })
    expect(await phasesOf(world, id)).toEqual({ event: 'RUNNING', worker: 'RUNNING', job: 'FAILED' })
    await sendReport(world, { fence: start.fence, ...succeeded })
    expect(await phasesOf(world, id)).toEqual({ event: 'SUCCEEDED', worker: 'SUCCEEDED', job: 'FAILED' })
  })

  test('are cancelled or timed out by their worker, and by no other', async () => {
    const { id } = await running()
    const { id: other } = await running()
    const [slow, unwanted] = [await addJob(world, id, 'slow'), await addJob(world, id, 'unwanted')]
    await runAll(world)
    const strange = world.pipelines.cancelJob(workerViewer(other), { id: slow, timedOut: false })
    expect((await refused(strange)).type).toBe('NotFoundError')
    const byUser = await refused(world.pipelines.cancelJob(USER, { id: slow, timedOut: true }))
    expect(byUser).toMatchObject({
      type: 'TransitionError',
      actor: 'USER',
      to: 'TIMED_OUT',
      allowed: ['ABORTED', 'GONE'],
    })
    await accepted(world.pipelines.cancelJob(workerViewer(id), { id: slow, timedOut: true }))
    await accepted(world.pipelines.cancelJob(workerViewer(id), { id: unwanted, timedOut: false }))
    expect(await phasesOf(world, id)).toMatchObject({ worker: 'RUNNING', slow: 'TIMED_OUT', unwanted: 'ABORTED' })
  })

  test('a job’s own timeout is watched by the controller as well', async () => {
    const { id } = await running()
    await addJob(world, id, 'job', { ...TEMPLATE, timeoutMs: 5_000 })
    await runAll(world)
    world.clock.advance(5_000)
    await world.settle()
    expect(await phasesOf(world, id)).toMatchObject({ worker: 'RUNNING', job: 'TIMED_OUT' })
  })

  test('one that uses the workspace is started where its worker’s is', async () => {
    const { id } = await running({ workerTemplate: { ...TEMPLATE, workspace: true } })
    await addJob(world, id, 'guest', { ...TEMPLATE, workspace: true })
    expect(await claimAt(world, 'elsewhere')).toEqual([])
    expect((await claimAt(world, 'here')).map(({ name }) => name)).toEqual(['guest'])
  })
})

describe('matching', () => {
  const github = { source: 'github', types: ['push', 'tag'] }
  const match = async (subscriptions: object[], event: object): Promise<boolean> => {
    const name = await project({ subscriptions: subscriptions as never })
    const ids = await addEvents(world, { source: 'github', type: 'push', ...event })
    for (const id of ids) {
      const { rows } = await world.pool.query(
        'select p.name from object o join project p on p.id = o.project_id where o.id = $1',
        [id],
      )
      if (rows[0]?.name === name) return true
    }
    return false
  }

  test('source equal', async () => {
    expect(await match([{ ...github, source: 'gitlab' }], {})).toBe(false)
    expect(await match([github], {})).toBe(true)
  })
  test('type listed or *', async () => {
    expect(await match([github], { type: 'tag' })).toBe(true)
    expect(await match([github], { type: 'issue' })).toBe(false)
    expect(await match([{ source: 'github', types: ['*'] }], { type: 'issue' })).toBe(true)
  })
  test('qualifiers exactly equal, both ways', async () => {
    const qualified = { ...github, qualifiers: [label('repo', 'a')] }
    expect(await match([qualified], { qualifiers: [label('repo', 'a')] })).toBe(true)
    expect(await match([qualified], { qualifiers: [label('repo', 'b')] })).toBe(false)
    expect(await match([qualified], {})).toBe(false)
    expect(await match([github], { qualifiers: [label('repo', 'a')] })).toBe(false)
    expect(await match([qualified], { qualifiers: [label('repo', 'a'), label('org', 'x')] })).toBe(false)
  })
  test('the subscription’s labels are a subset of the event’s', async () => {
    const labelled = { ...github, labels: [label('branch', 'main')] }
    expect(await match([labelled], { labels: [label('branch', 'main'), label('urgent', 'yes')] })).toBe(true)
    expect(await match([labelled], { labels: [label('branch', 'dev')] })).toBe(false)
    expect(await match([labelled], {})).toBe(false)
    expect(await match([github], { labels: [label('branch', 'dev')] })).toBe(true)
  })
  test('two matching subscriptions of one project give one event; none matching gives an empty list', async () => {
    const source = 'twice'
    await project({
      subscriptions: [
        { source, types: ['push'] },
        { source, types: ['*'] },
      ],
    })
    expect(await addEvents(world, { source })).toHaveLength(1)
    expect(await addEvents(world, { source: 'nobody' })).toEqual([])
    const nameless = world.pipelines.createEvent(USER, { project: '', source, type: 'push' })
    expect(await refused(nameless)).toMatchObject({ fields: [{ path: 'input.project' }] })
  })
  test('one event for each project that has subscribed, once however often the request is repeated with its key', async () => {
    const source = 'broadcast'
    const names = [
      await project({ subscriptions: [{ source, types: ['*'] }] }),
      await project({ subscriptions: [{ source, types: ['*'] }] }),
    ]
    const input = { source, type: 'push', idempotencyKey: 'once' }
    const first = await accepted(world.pipelines.createEvent(USER, input))
    const second = await accepted(world.pipelines.createEvent(USER, input))
    expect(first.eventIds).toHaveLength(names.length)
    expect(second.eventIds).toEqual(first.eventIds)
    const other = world.pipelines.createEvent(USER, { ...input, payload: 'another' })
    expect(await refused(other)).toMatchObject({ fields: [{ path: 'input.idempotencyKey' }] })
    // Keys belong to their mutation.
    const [id = ''] = first.eventIds
    expect((await accepted(world.pipelines.cloneEvent(USER, { id, idempotencyKey: 'once' }))).eventIds).toHaveLength(2)
  })
})

describe('a subscription that asks for a task', () => {
  const jobs = [{ name: 'look', gadget: 'look-around' }]
  const subscription = { source: 'pager', types: ['alarm'], task: { jobs } }

  test('gets a task instead of a worker, once for each request, with the event in its jobs’ environment', async () => {
    await addProject(world, 'tasks', { workerTemplate: null, subscriptions: [subscription] })
    const payload = `disk $${'{full}'} on a`
    const input = { source: 'pager', type: 'alarm', payload, idempotencyKey: 'alarm-1' }
    const first = await accepted(world.pipelines.createEvent(USER, input))
    const second = await accepted(world.pipelines.createEvent(USER, input))
    expect(first.eventIds).toEqual([])
    expect(first.taskIds).toHaveLength(1)
    expect(second.taskIds).toEqual(first.taskIds)
    await world.settle()
    const { rows } = await world.pool.query(
      'select o.phase, g.env from object o join gadget_job g on g.object_id = o.id',
    )
    // The event's data is not evaluated as expressions.
    expect(rows).toEqual([
      {
        phase: 'DECLARING',
        env: { GADGET_EVENT_SOURCE: 'pager', GADGET_EVENT_TYPE: 'alarm', GADGET_EVENT_PAYLOAD: payload },
      },
    ])
  })

  test('whose key is used again after its day gets another task', async () => {
    const late = { source: 'late', types: ['alarm'], task: { jobs } }
    await addProject(world, 'late', { workerTemplate: null, subscriptions: [late] })
    const input = { source: 'late', type: 'alarm', idempotencyKey: 'late-1' }
    const first = await accepted(world.pipelines.createEvent(USER, input))
    world.clock.advance(25 * 3_600_000)
    const second = await accepted(world.pipelines.createEvent(USER, input))
    expect(second.taskIds).toHaveLength(1)
    expect(second.taskIds).not.toEqual(first.taskIds)
  })

  test('is judged when it is written', async () => {
    const wrong = { ...subscription, task: { jobs: [{ name: 'look', gadget: '../evil' }] } }
    const refusal = await refused(world.projects.createProject(USER, { name: 'wrong', subscriptions: [wrong] }))
    expect('fields' in refusal && refusal.fields[0]?.path).toBe('input.subscriptions.0.task.jobs.0.gadget')
  })

  test('leaves room for the three variables that tell of the event', async () => {
    const withEnv = (entries: number) => {
      const env = Array.from({ length: entries }, (_, n) => ({ name: `GADGET_V${n}`, value: '1' }))
      const crowded = { source: 'crowded', types: ['alarm'], task: { jobs: [{ name: 'look', gadget: 'look', env }] } }
      return { name: 'crowded', workerTemplate: null, subscriptions: [crowded] }
    }
    const refusal = await refused(world.projects.createProject(USER, withEnv(62)))
    expect('fields' in refusal && refusal.fields[0]?.path).toBe('input.subscriptions.0.task.jobs.0.env')
    await accepted(world.projects.createProject(USER, withEnv(61)))
    const { taskIds } = await accepted(
      world.pipelines.createEvent(USER, { source: 'crowded', type: 'alarm', payload: 'x' }),
    )
    expect(taskIds).toHaveLength(1)
  })
})

describe('copies', () => {
  test('later edits of the project do not reach the event', async () => {
    const name = await project({ workerTemplate: { command: ['before'], env: [{ name: 'A', value: '1' }] } })
    await accepted(world.projects.setSecret(USER, { project: name, name: 'KEY', value: 'old' }))
    await addEvent(world, name)
    await accepted(world.projects.updateProject(USER, { name, workerTemplate: { command: ['after'] } }))
    await accepted(world.projects.setSecret(USER, { project: name, name: 'KEY', value: 'new' }))
    const [start] = await claimAt(world)
    const [payload] = await world.pipelines.claimPayloads(start ? [start] : [])
    expect(payload?.config).toMatchObject({ command: ['before'], env: { A: '1' }, secrets: { KEY: 'old' } })
  })
})

describe('cancelEvents and deleteEvents', () => {
  const filter = { phases: ['PENDING', 'STARTING', 'RUNNING'] as const }

  test('change only the events of the filter', async () => {
    const name = await project({ limits: { maxWorkers: 1 } })
    const kept = await addEvent(world, name, { source: 'other' })
    const ids = [await addEvent(world, name, { labels: [label('a', '1')] }), await addEvent(world, name)]
    const elsewhere = await addEvent(world, await project())
    const canceled = await accepted(
      world.pipelines.cancelEvents(USER, { ...filter, project: name, source: 'test', labels: [label('a', '1')] }),
    )
    expect(canceled.count).toBe(1)
    const deleted = await accepted(
      world.pipelines.deleteEvents(USER, { project: name, phases: ['PENDING', 'CANCELED'] }),
    )
    expect(deleted.count).toBe(2)
    await world.settle()
    expect(await Promise.all([...ids, kept, elsewhere].map((id) => phaseOf(world, id)))).toEqual([
      undefined,
      undefined,
      'STARTING',
      'STARTING',
    ])
  })

  test.each([
    ['no phases', { phases: [] }],
    ['a phase of another machine', { phases: ['PENDING', 'INIT'] }],
    ['a final phase to cancel', { phases: ['PENDING', 'SUCCEEDED'] }],
    ['a project that does not exist', { project: 'nowhere' }],
    ['a malformed label', { labels: [label('', 'x')] }],
    ['a qualifier twice', { qualifiers: [label('a', '1'), label('a', '2')] }],
  ])('a malformed filter touches nothing: %s', async (_, wrong) => {
    const name = await project()
    const id = await addEvent(world, name)
    const input = { ...filter, project: name, ...wrong } as never
    expect((await refused(world.pipelines.cancelEvents(USER, input))).type).toBe('InvalidInputError')
    const wrongToDelete = !('phases' in wrong && (wrong.phases as string[]).includes('SUCCEEDED'))
    if (wrongToDelete) expect((await refused(world.pipelines.deleteEvents(USER, input))).type).toBe('InvalidInputError')
    expect(await phaseOf(world, id)).toBe('STARTING')
  })
})

describe('LATEST_ONLY', () => {
  test('cancels the older waiting event of the same project, source and type', async () => {
    const name = await project({ limits: { maxWorkers: 1, strategy: 'LATEST_ONLY' } })
    const first = await addEvent(world, name)
    const older = await addEvent(world, name)
    const other = await addEvent(world, name, { type: 'tag' })
    const latest = await addEvent(world, name)
    await world.settle()
    expect(await phaseOf(world, first)).toBe('STARTING')
    expect((await treeOf(world, older)).event).toMatchObject({ phase: 'CANCELED', code: 'SUPERSEDED' })
    expect(await phaseOf(world, other)).toBe('PENDING')
    expect(await phaseOf(world, latest)).toBe('PENDING')
    const { objectId: retried } = await accepted(world.pipelines.retryEvent(USER, { id: older }))
    await world.settle()
    expect((await treeOf(world, latest)).event).toMatchObject({ phase: 'CANCELED', code: 'SUPERSEDED' })
    expect(await phaseOf(world, retried)).toBe('PENDING')
  })
})

describe('retry and clone', () => {
  test('retry inherits succeeded jobs that do not use the workspace, with the worker as it was', async () => {
    const { project: name, id, start } = await running({ workerTemplate: { ...TEMPLATE, workspace: true } })
    await addJob(world, id, 'good')
    await addJob(world, id, 'bad')
    await addJob(world, id, 'guest', { ...TEMPLATE, workspace: true })
    for (const { fence, name: job } of await runAll(world))
      await sendReport(world, { fence, ...(job === 'bad' ? failed : succeeded) })
    const tooEarly = await refused(world.pipelines.retryEvent(USER, { id }))
    expect(tooEarly).toMatchObject({ type: 'ConflictError', code: 'BUSY' })
    await sendReport(world, { fence: start.fence, ...failed })
    await accepted(world.projects.updateProject(USER, { name, workerTemplate: { command: ['other'] } }))
    const { objectId: again } = await accepted(world.pipelines.retryEvent(USER, { id }))
    await world.settle()
    const tree = await treeOf(world, again)
    expect(Object.entries(tree).map(([job, { phase }]) => [job, phase])).toEqual([
      ['event', 'STARTING'],
      ['worker', 'STARTING'],
      ['good', 'SUCCEEDED'],
    ])
    const [restart] = await runAll(world)
    const [payload] = await world.pipelines.claimPayloads(restart ? [restart] : [])
    expect(payload?.config?.command).toEqual(['true'])
    // The inherited job matches any spec of its name; the others run again.
    expect(await addJob(world, again, 'good', { command: ['false'] })).toBe(tree.good?.id)
    await addJob(world, again, 'bad')
    expect((await claimAt(world)).map(({ name: job }) => job)).toEqual(['bad'])
  })

  test('clone goes through the subscriptions again', async () => {
    const source = 'cloned'
    await project({ subscriptions: [{ source, types: ['*'] }] })
    const [id = ''] = await addEvents(world, { source, payload: 'the same' })
    await project({ subscriptions: [{ source, types: ['push'] }] })
    const { eventIds } = await accepted(world.pipelines.cloneEvent(USER, { id }))
    expect(eventIds).toHaveLength(2)
    const { rows } = await world.pool.query('select payload, clone_of from event where object_id = any($1)', [eventIds])
    expect(rows).toEqual([
      { payload: 'the same', clone_of: id },
      { payload: 'the same', clone_of: id },
    ])
  })
})
