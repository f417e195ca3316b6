import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { type ReachableServer, startSharedServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { isAlive } from './gadget-folder.ts'
import { createTask, type Gadgets, gadgets, type JobInput, projectFor, startRunner, type Task } from './stepped-job.ts'

/** Rules of operations, each with a real server, a real runner, and executables. Crashes are in crash-points.test.ts. */

const ENV = { PHASELINE_ROLES: 'gateway,engine' }
const PROJECT = 'rules'

let server: ReachableServer
let at: Gadgets
let all: AsyncDisposableStack
beforeAll(async () => {
  await using starting = new AsyncDisposableStack()
  server = starting.use(await startTestApp({ env: ENV }))
  at = starting.use(await gadgets())
  const token = await projectFor(server.client, PROJECT)
  starting.use(startRunner({ url: server.url, token, folder: at.path }))
  all = starting.move()
})
afterAll(() => all.disposeAsync())

/** A gadget of this name, and a task with one job that runs it and has its name. */
async function start(name: string, lock = `thing:${name}=X`, more: readonly JobInput[] = []): Promise<Task> {
  await at.stepped(name)
  return createTask(server.client, PROJECT, name, [{ name, gadget: name, args: [lock] }, ...more])
}
const begun = (name: string, call: string) => until(() => at.begun(name, call), { what: `${name} has begun ${call}` })
/** Entries of one gadget, without its name. */
const callsOf = async (name: string) =>
  (await at.calls()).flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []))
const DECLARED = ['getlocks-1 begin', 'getlocks-1 end']
const once = (call: string) => [`${call} begin`, `${call} end`]

describe.concurrent('abort in each state', () => {
  it('PENDING: ABORTED at once, and its gadget is never called', async () => {
    await at.stopAt('before', 'run-1')
    await at.stepped('pending')
    const task = await start('before', 'thing:before=X', [
      { name: 'pending', gadget: 'pending', args: ['thing:pending=X'], dependsOn: ['before'] },
    ])
    await begun('before', 'run-1')
    await task.cancel()
    expect(await task.ended()).toBe('ABORTED')
    expect(await task.history('pending')).toEqual(['PENDING CONTROLLER', 'ABORTED USER CANCELED'])
    expect([await task.journal('before'), await task.journal('pending')]).toEqual(['START ABORT', ''])
    expect(await callsOf('pending')).toEqual([])
  })

  it('DECLARING: ABORTED at once, without locks, and the call that still asks is ended', async () => {
    await at.stopAt('declaring', 'getlocks-1')
    const task = await start('declaring')
    await begun('declaring', 'getlocks-1')
    const pid = await at.pid('declaring', 'getlocks-1')
    await task.cancel()
    expect(await task.ended()).toBe('ABORTED')
    expect(await task.job('declaring')).toMatchObject({ phase: 'ABORTED', locks: [], journal: [] })
    await until(() => !isAlive(pid), { what: 'the call is ended' })
    expect(await callsOf('declaring')).toEqual(DECLARED.slice(0, 1))
  })

  it('WAITING: ABORTED at once, never run, and its lock requests are removed', async () => {
    await at.stopAt('owner', 'run-1')
    const owner = await start('owner')
    await begun('owner', 'run-1')
    const waiting = await start('waiting', 'thing:owner=X')
    await waiting.reaches('waiting', 'WAITING')
    const next = await start('next', 'thing:owner=X')
    expect(await next.reaches('next', 'WAITING')).toMatchObject({ locks: [{ position: 2 }] })
    await waiting.cancel()
    expect(await waiting.ended()).toBe('ABORTED')
    expect(await waiting.job('waiting')).toMatchObject({ phase: 'ABORTED', locks: [], journal: [] })
    expect(await next.job('next')).toMatchObject({ phase: 'WAITING', locks: [{ position: 1 }] })
    await at.go('owner', 'run-1')
    expect([await owner.ended(), await next.ended()]).toEqual(['SUCCEEDED', 'SUCCEEDED'])
    expect(await callsOf('waiting')).toEqual(DECLARED)
  })

  it.for([
    ['RUNNING: SIGINT, then --abort, its locks held until that is over', 'running'],
    ['RUNNING: SIGKILL after a grace to one that does not listen, then --abort', 'deaf'],
  ] as const)('%s', async ([, name]) => {
    await at.stopAt(name, 'run-1')
    await at.stopAt(name, 'abort-1')
    if (name === 'deaf') await at.ignoreInterrupts(name)
    const task = await start(name)
    await begun(name, 'run-1')
    const pid = await at.pid(name, 'run-1')
    const rival = await start(`after-${name}`, `thing:${name}=X`)
    await rival.reaches(`after-${name}`, 'WAITING')
    await task.cancel()
    await begun(name, 'abort-1')
    expect(isAlive(pid)).toBe(false)
    expect(await task.job(name)).toMatchObject({ phase: 'ABORTING', locks: [{ held: true }] })
    expect(await rival.job(`after-${name}`)).toMatchObject({ phase: 'WAITING' })
    await at.go(name, 'abort-1')
    expect([await task.ended(), await rival.ended()]).toEqual(['ABORTED', 'SUCCEEDED'])
    expect(await task.journal(name)).toBe('START ABORT')
    expect(await task.job(name)).toMatchObject({ phase: 'ABORTED', locks: [] })
    expect(await callsOf(name)).toEqual([...DECLARED, 'run-1 begin', ...once('abort-1')])
  })

  it('RUNNING: --abort runs, too, when the gadget exits 0 while it is being aborted', async () => {
    const obey = `trap 'say run-1 interrupted; exit 0' INT; say run-1 listens; while :; do sleep 0.02; done`
    await at.script('willing', 'run-1', obey)
    const task = await start('willing')
    await until(async () => (await callsOf('willing')).includes('run-1 listens'), { what: 'it listens' })
    await task.cancel()
    expect(await task.ended()).toBe('ABORTED')
    expect(await task.journal('willing')).toBe('START ABORT')
    expect((await callsOf('willing')).slice(-3)).toEqual(['run-1 interrupted', ...once('abort-1')])
  })

  it('ABORTING: a second one is refused, and changes nothing', async () => {
    for (const call of ['run-1', 'abort-1']) await at.stopAt('aborting', call)
    const task = await start('aborting')
    await begun('aborting', 'run-1')
    await task.cancel()
    await begun('aborting', 'abort-1')
    await expect(task.cancel()).rejects.toThrow('It cannot be cancelled any more: it is ABORTING.')
    await at.go('aborting', 'abort-1')
    expect(await task.ended()).toBe('ABORTED')
    expect(await task.journal('aborting')).toBe('START ABORT')
    expect(await callsOf('aborting')).toEqual([...DECLARED, 'run-1 begin', ...once('abort-1')])
  })

  it('UNDOING after a failure: undone to its end, then ABORTED', async () => {
    await at.fail('undoing', 'run-1')
    await at.stopAt('undoing', 'undo-1')
    const task = await start('undoing')
    await begun('undoing', 'undo-1')
    await task.cancel()
    expect(await task.job('undoing')).toMatchObject({ phase: 'UNDOING', locks: [{ held: true }] })
    await at.go('undoing', 'undo-1')
    expect(await task.ended()).toBe('ABORTED')
    expect(await task.journal('undoing')).toBe('START UNDO_STARTED UNDO ABORT')
    expect(await task.job('undoing')).toMatchObject({ phase: 'ABORTED', locks: [] })
    expect(await callsOf('undoing')).toEqual([...DECLARED, ...once('run-1'), ...once('undo-1')])
  })

  it('UNDOING after a crash: undone to its end, then ABORTED, and not run again', async () => {
    await using own = await gadgets()
    await own.stepped('crashed')
    for (const call of ['run-1', 'undo-1']) await own.stopAt('crashed', call)
    const token = await projectFor(server.client, 'crashed')
    await using runner = startRunner({ url: server.url, token, folder: own.path })
    const task = await createTask(server.client, 'crashed', 'crashed', [
      { name: 'crashed', gadget: 'crashed', args: ['thing:crashed=X'] },
    ])
    const has = (call: string) => until(() => own.begun('crashed', call), { what: `${call} has begun` })
    await has('run-1')
    await runner.kill()
    await has('undo-1')
    await task.cancel()
    expect(await task.job('crashed')).toMatchObject({ phase: 'UNDOING', locks: [{ held: true }] })
    await own.go('crashed', 'undo-1')
    expect(await task.ended()).toBe('ABORTED')
    expect(await task.journal('crashed')).toBe('START UNDO_STARTED UNDO ABORT')
    const calls = [...DECLARED, 'run-1 begin', ...once('undo-1')]
    expect(await own.calls()).toEqual(calls.map((call) => `crashed ${call}`))
  })

  it.for([
    ['RETRY', 'ABORTED', 'START UNDO_STARTED UNDO_STARTED UNDO ABORT'],
    ['GIVE_UP', 'FAILED', 'START UNDO_STARTED FAILED'],
  ] as const)(
    'UNDO_FAILED: it keeps its locks until an operator decides %s, then %s',
    async ([decision, end, written]) => {
      const name = `undo-failed-${decision.toLowerCase()}`
      for (const call of ['run-1', 'undo-1']) await at.fail(name, call)
      const task = await start(name)
      await task.reaches(name, 'UNDO_FAILED')
      await task.cancel()
      expect(await task.job(name)).toMatchObject({ phase: 'UNDO_FAILED', locks: [{ held: true }] })
      expect(await task.phase()).toBe('ABORTING')
      await task.resolve(name, decision)
      expect(await task.ended()).toBe('ABORTED')
      expect(await task.job(name)).toMatchObject({ phase: end, locks: [] })
      expect(await task.journal(name)).toBe(written)
    },
  )

  it('a clean-up that fails: UNDO_FAILED, locks kept, and RETRY is another clean-up, not an undo', async () => {
    await at.stopAt('unclean', 'run-1')
    for (const call of ['abort-1', 'abort-2']) await at.fail('unclean', call)
    const task = await start('unclean')
    await begun('unclean', 'run-1')
    await task.cancel()
    expect(await task.reaches('unclean', 'UNDO_FAILED')).toMatchObject({
      error: { code: 'GADGET_ABORT_FAILED' },
      locks: [{ held: true }],
    })
    await task.resolve('unclean', 'RETRY')
    await begun('unclean', 'abort-2')
    expect(await task.reaches('unclean', 'UNDO_FAILED')).toMatchObject({ error: { code: 'GADGET_ABORT_FAILED' } })
    await task.resolve('unclean', 'RETRY')
    expect(await task.ended()).toBe('ABORTED')
    expect(await task.journal('unclean')).toBe('START ABORT')
    expect(await callsOf('unclean')).toEqual([
      ...DECLARED,
      'run-1 begin',
      ...['abort-1', 'abort-2', 'abort-3'].flatMap(once),
    ])
  })

  it('DONE: refused', async () => {
    const task = await start('done')
    expect(await task.ended()).toBe('SUCCEEDED')
    await expect(task.cancel()).rejects.toThrow('It cannot be cancelled any more: it is SUCCEEDED.')
    expect(await task.journal('done')).toBe('START DONE')
  })
})

const BAD_ENDS = [
  ['a malformed line', 'malformed', 'echo Hello; while :; do sleep 0.02; done', 'GADGET_PROTOCOL'],
  ['an empty line', 'empty', 'echo', 'GADGET_PROTOCOL'],
  ['progress without its total', 'progress', 'echo PROG 1', 'GADGET_PROTOCOL'],
  ['exit by signal', 'signal', 'kill -KILL $$', 'GADGET_FAILED'],
  ['exit code', 'code', 'exit 3', 'GADGET_FAILED'],
  ['an Error line and exit code 0', 'error', 'echo Error the disk is full; exit 0', 'GADGET_FAILED'],
] as const

describe.concurrent('failure is', () => {
  it.for(BAD_ENDS)('%s in a run: undone, FAILED, with the error of the run', async ([, how, script, code]) => {
    const name = `run-${how}`
    await at.script(name, 'run-1', script)
    const task = await start(name)
    expect(await task.ended()).toBe('FAILED')
    expect(await task.job(name)).toMatchObject({ phase: 'FAILED', error: { code }, exports: null, locks: [] })
    expect(await task.journal(name)).toBe('START UNDO_STARTED UNDO FAILED')
    expect((await callsOf(name)).filter((line) => line !== 'run-1 end')).toEqual([
      ...DECLARED,
      'run-1 begin',
      ...once('undo-1'),
    ])
  })

  it.for(BAD_ENDS)('%s while locks are declared: FAILED, never run', async ([, how, script, code]) => {
    const name = `getlocks-${how}`
    await at.script(name, 'getlocks-1', script)
    const task = await start(name)
    expect(await task.ended()).toBe('FAILED')
    expect(await task.job(name)).toMatchObject({ phase: 'FAILED', error: { code }, journal: [], locks: [] })
    expect((await callsOf(name)).filter((line) => line !== 'getlocks-1 end')).toEqual(['getlocks-1 begin'])
  })

  it.for(BAD_ENDS)('%s in an undo: UNDO_FAILED, locks kept', async ([, how, script, code]) => {
    const name = `undo-${how}`
    await at.fail(name, 'run-1')
    await at.script(name, 'undo-1', script)
    const task = await start(name)
    expect(await task.reaches(name, 'UNDO_FAILED')).toMatchObject({ error: { code }, locks: [{ held: true }] })
    await task.resolve(name, 'GIVE_UP')
    expect(await task.ended()).toBe('FAILED')
    expect(await task.journal(name)).toBe('START UNDO_STARTED FAILED')
  })
})

describe.concurrent('locks between gadgets', () => {
  it('S and S run together; X waits for both, and a later S for that X; a waiter holds nothing', async () => {
    for (const name of ['s1', 's2', 'x', 's3']) await at.stopAt(name, 'run-1')
    const first = [await start('s1', 'shared:a=S'), await start('s2', 'shared:a=S')]
    await Promise.all([begun('s1', 'run-1'), begun('s2', 'run-1')])
    const alone = await start('x', 'shared:a=X')
    expect(await alone.reaches('x', 'WAITING')).toMatchObject({ locks: [{ held: false, position: 1 }] })
    // It could run beside those that run, and would overtake.
    const late = await start('s3', 'shared:a=S')
    expect(await late.reaches('s3', 'WAITING')).toMatchObject({ locks: [{ held: false, position: 2 }] })
    await at.go('s1', 'run-1')
    expect(await first[0]?.ended()).toBe('SUCCEEDED')
    expect(await alone.job('x')).toMatchObject({ phase: 'WAITING' })
    await at.go('s2', 'run-1')
    await begun('x', 'run-1')
    expect(await late.job('s3')).toMatchObject({ phase: 'WAITING', locks: [{ held: false, position: 1 }] })
    await at.go('x', 'run-1')
    await begun('s3', 'run-1')
    await at.go('s3', 'run-1')
    expect([await alone.ended(), await late.ended()]).toEqual(['SUCCEEDED', 'SUCCEEDED'])
  })

  it('X and X run one after the other, in the order of their requests', async () => {
    const names = ['x1', 'x2', 'x3']
    for (const name of names) await at.stopAt(name, 'run-1')
    const tasks: Task[] = []
    for (const name of names) {
      const task = await start(name, 'alone:a=X')
      await (name === 'x1' ? begun(name, 'run-1') : task.reaches(name, 'WAITING'))
      tasks.push(task)
    }
    for (const [i, name] of names.entries()) {
      await begun(name, 'run-1')
      for (const later of names.slice(i + 1)) expect(await callsOf(later)).toEqual(DECLARED)
      await at.go(name, 'run-1')
      expect(await tasks[i]?.ended()).toBe('SUCCEEDED')
    }
  })
})

it('the order of waiting jobs survives a restart', async () => {
  await using own = await startSharedServer({ env: ENV })
  await using box = await gadgets()
  const token = await projectFor(own.client, 'queue')
  await using _runner = startRunner({ url: own.url, token, folder: box.path })
  const create = async (name: string, mode: 'S' | 'X') => {
    await box.stepped(name)
    return createTask(own.client, 'queue', name, [{ name, gadget: name, args: [`thing:one=${mode}`] }])
  }
  // On a machine so slow that its lease ends, the first is undone and runs again: it holds its lock all the same.
  const RUNS = ['run-1', 'run-2', 'run-3']
  for (const call of RUNS) await box.stopAt('first', call)
  const first = await create('first', 'X')
  await until(() => box.begun('first', 'run-1'), { what: 'the first runs' })
  // The last could share with the first, and does not overtake the one between them.
  const waiting: [name: string, task: Task][] = []
  for (const [name, mode] of [
    ['reads', 'S'],
    ['writes', 'X'],
    ['reads-late', 'S'],
  ] as const) {
    const task = await create(name, mode)
    await task.reaches(name, 'WAITING')
    waiting.push([name, task])
  }
  const queue = () =>
    Promise.all(
      waiting.map(async ([name, task]) => {
        const { phase, locks } = await task.job(name)
        return { name, phase, held: locks[0]?.held, position: locks[0]?.position }
      }),
    )
  const before = await queue()
  expect(before).toEqual(waiting.map(([name], i) => ({ name, phase: 'WAITING', held: false, position: i + 1 })))
  const granted = (await first.job('first')).locks[0]?.grantedAt
  await own.kill()
  await own.start()
  expect(await queue()).toEqual(before)
  // With its database.
  await own.stop()
  await own.start()
  expect(await queue()).toEqual(before)
  expect(await first.job('first')).toMatchObject({ locks: [{ held: true, grantedAt: granted }] })

  await box.stopAt('reads', 'run-1')
  for (const call of RUNS) await box.go('first', call)
  await until(() => box.begun('reads', 'run-1'), { what: 'the second in the queue runs' })
  expect((await queue()).map(({ phase, position }) => [phase, position])).toEqual([
    ['RUNNING', null],
    ['WAITING', 1],
    ['WAITING', 2],
  ])
  await box.go('reads', 'run-1')
  for (const [, task] of waiting) expect(await task.ended()).toBe('SUCCEEDED')
  const ran = (await box.calls()).filter((line) => / run-\d (begin|end)$/.test(line) && !line.startsWith('first '))
  expect(ran).toEqual(waiting.flatMap(([name]) => [`${name} run-1 begin`, `${name} run-1 end`]))
})
