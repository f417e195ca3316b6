import { describe, expect, it } from 'vitest'
import { addInstance, CRM, readyCloudlet, requestFor } from '../testkit/edge.ts'
import { at, itemsOf, names, only, pass, renewed, tryAgain } from '../testkit/items.ts'
import { mulberry32 } from '../testkit/mulberry32.ts'
import {
  addTask,
  begin,
  claimJob,
  claimJobs,
  declare,
  exclusive,
  gadget,
  jobsOf,
  locksNow,
  reportJob,
} from '../testkit/operations.ts'
import {
  accepted,
  addEvent,
  addProject,
  claimAt,
  phasesOf,
  refused,
  sendReport,
  succeeded,
} from '../testkit/pipelines.ts'
import { createWorld, DEPLOYER, item, TIMEOUTS, USER, type World } from '../testkit/world.ts'

const YEAR = 365 * 24 * 3_600_000

async function pause(world: World, id: string, reason?: string): Promise<void> {
  await accepted(world.services.pause(USER, { id, ...(reason === undefined ? {} : { reason }) }))
  await world.settle()
}
async function resume(world: World, id: string): Promise<void> {
  await accepted(world.services.resume(USER, { id }))
  await world.settle()
}
/** The last record about an object in the log. */
async function lastOf(world: World, id: string) {
  const { rows } = await world.pool.query<{ reason: string; message: string | null; by: string | null }>(
    'select reason, message, by from phase_change where object_id = $1 order by batch_id desc, idx desc limit 1',
    [id],
  )
  return rows[0]
}
const phaseOf = async (world: World, name: string) => (await world.see(...at(name))).phase
/** Claims with a lease that outlives every clock here. */
const claimLong = (world: World) => world.claim(500, DEPLOYER, ['mock'], 600_000)

describe('a paused installation', () => {
  it('hands out nothing new for years, lets go on what an agent has, and goes on where it was', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a']), item('c', ['b'])] })
    const a = only(await claimLong(world))
    await pause(world, id, 'a freeze')
    expect(await lastOf(world, id)).toMatchObject({ reason: 'paused', message: 'a freeze', by: USER.name })
    expect(await world.report({ fence: a.fence, phase: 'SUCCEEDED' })).toBe(true)
    expect(await phaseOf(world, 'b')).toBe('INIT')
    await pass(world, YEAR)
    expect([await world.claim(), await phaseOf(world, 'b')]).toEqual([[], 'INIT'])
    await resume(world, id)
    expect(await world.work()).toEqual(['b', 'c'])
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })

  it.each([
    ['was there before', 100_000],
    ['came with it', 0],
  ])('keeps the time that a pickup has left: an item that %s', async (_, before) => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('first'), item('a', ['first'])] })
    const { fence } = only(await claimLong(world))
    if (before === 0) await pause(world, id)
    await world.report({ fence, phase: 'SUCCEEDED' })
    await pass(world, before)
    await pause(world, id)
    await pass(world, 3 * TIMEOUTS.pickupMs)
    await resume(world, id)
    await pass(world, TIMEOUTS.pickupMs - before - 1)
    expect(await phaseOf(world, 'a')).toBe('INIT')
    await pass(world, 1)
    expect((await world.see(...at('a'))).error?.code).toBe('PICKUP_TIMEOUT')
  })

  it('lets the timeout of an item at work run on, and stops it in time', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await claimLong(world))
    await pause(world, id)
    await pass(world, TIMEOUTS.progressingMs - 1)
    await renewed(world, fence)
    await pass(world, 1)
    expect(await world.report({ fence, phase: 'ABORTED' })).toBe(true)
    expect((await world.see(...at('a'))).error?.code).toBe('PROGRESSING_TIMEOUT')
  })

  it('offers what was given back, or is between two attempts, only after the pause, with the time that it had', async () => {
    await using world = await createWorld()
    const retry = { attempts: 2, backoff: { initialMs: 1_000, factor: 1, jitter: 0 } }
    const deployItems = [item('back'), { ...item('again'), retry }]
    const id = await world.create('shop', { deployItems })
    const items = await claimLong(world)
    await pause(world, id)
    for (const { fence, name } of items) {
      const error = name === 'back' ? tryAgain : { code: 'BROKEN', message: 'It broke.' }
      await world.report({ fence, phase: name === 'back' ? 'PROGRESSING' : 'FAILED', error })
    }
    await pass(world, 10 * TIMEOUTS.progressingMs)
    expect([await world.claim(), await itemsOf(world)]).toEqual([[], { again: 'INIT', back: 'PROGRESSING' }])
    await resume(world, id)
    expect([...(await world.work())].sort()).toEqual(['again', 'back'])
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })

  it('remembers a job and a deletion, and is cancelled at once', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    await world.work()
    await pause(world, id)
    await world.reconcile(id)
    await pass(world, YEAR)
    expect([(await world.see('shop')).phase, await world.claim()]).toEqual(['SUCCEEDED', []])
    expect(await lastOf(world, id)).toMatchObject({
      reason: 'reconcile requested',
      message: 'A job begins once it is resumed.',
    })
    await resume(world, id)
    expect(await phaseOf(world, 'a')).toBe('INIT')
    await pause(world, id)
    await world.cancel(id)
    expect([(await world.see('shop')).phase, await phaseOf(world, 'a')]).toEqual(['ABORTED', 'ABORTED'])
    await world.remove(id)
    expect(await world.claim()).toEqual([])
    await resume(world, id)
    expect(await world.work()).toEqual(['a'])
    expect(await world.exists('shop')).toBe(false)
    expect((await world.pool.query('select from root_pause')).rowCount).toBe(0)
  })

  it('does not begin a job by itself, and does once it is resumed', async () => {
    await using world = await createWorld()
    const deployItems = [item('a')]
    const id = await world.create('shop', { deployItems, automaticReconcile: { afterSuccess: { intervalMs: 60_000 } } })
    await world.work()
    await pause(world, id)
    await pass(world, 600_000)
    expect([await world.due(), await world.claim()]).toEqual([[], []])
    await resume(world, id)
    expect(await world.work()).toEqual(['a'])
  })

  it('refuses what is no whole tree with agents', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    const { id } = await world.see(...at('a'))
    expect(await refused(world.services.pause(USER, { id }))).toMatchObject({ type: 'InvalidInputError' })
  })

  it('changes nothing of how a tree ends, whenever and however often it is paused', async () => {
    await using world = await createWorld()
    for (let seed = 1; seed <= 12; seed++) {
      const random = mulberry32(seed)
      const count = 2 + Math.floor(random() * 8)
      const deployItems = Array.from({ length: count }, (_, i) =>
        item(
          `i${i}`,
          Array.from({ length: i }, (_, j) => `i${j}`).filter(() => random() < 0.4),
        ),
      )
      const id = await world.create(`tree-${seed}`, { deployItems })
      const done: string[] = []
      let open: Awaited<ReturnType<typeof claimLong>>[number][] = []
      let isPaused = false
      for (let step = 0; done.length < count; step++) {
        if (step > 300) throw new Error(`seed ${seed} does not come to its end: ${done}`)
        const dice = random()
        if (dice < 0.3) {
          isPaused = !isPaused
          await (isPaused ? pause : resume)(world, id)
        } else if (dice < 0.6) {
          const items = await claimLong(world)
          if (isPaused) expect(items, `seed ${seed}`).toEqual([])
          open = [...open, ...items]
        } else if (dice < 0.9) {
          const [item, ...rest] = open
          if (!item) continue
          open = rest
          await world.report({ fence: item.fence, phase: 'SUCCEEDED' })
          done.push(item.name)
        } else if (open.length === 0) await pass(world, isPaused ? YEAR : TIMEOUTS.pickupMs / 1_000)
      }
      expect([...done].sort()).toEqual(names(deployItems).toSorted())
      expect((await world.see(`tree-${seed}`)).phase).toBe('SUCCEEDED')
    }
  })
})

describe('a paused event', () => {
  it('takes no slot, leaves its turn to others, and has it again afterwards', async () => {
    await using world = await createWorld()
    await addProject(world, 'p', { limits: { maxWorkers: 1 } })
    const first = await addEvent(world, 'p')
    const [running] = await claimAt(world)
    const second = await addEvent(world, 'p')
    const third = await addEvent(world, 'p')
    await pause(world, second)
    await sendReport(world, { fence: running?.fence ?? '', ...succeeded })
    const workerOf = async (id: string) => (await phasesOf(world, id)).worker
    expect([await workerOf(first), await workerOf(second), await workerOf(third)]).toEqual([
      'SUCCEEDED',
      'PENDING',
      'STARTING',
    ])
    await resume(world, second)
    expect(await workerOf(second)).toBe('PENDING')
    const next = (await claimAt(world)).find(({ action }) => action === 'START')
    await sendReport(world, { fence: next?.fence ?? '', ...succeeded })
    expect([await workerOf(second), await workerOf(third)]).toEqual(['STARTING', 'SUCCEEDED'])
  })

  it('is not started by a runtime that comes during the pause, however late that is', async () => {
    await using world = await createWorld()
    await addProject(world, 'p')
    const event = await addEvent(world, 'p')
    await pause(world, event)
    await pass(world, 10 * TIMEOUTS.pickupMs)
    expect([await claimAt(world), (await phasesOf(world, event)).worker]).toEqual([[], 'STARTING'])
    await resume(world, event)
    expect(names(await claimAt(world))).toEqual(['worker'])
  })
})

describe('a paused task', () => {
  it('gives its place in the queue of a lock back, and joins the end of it later', async () => {
    await using world = await createWorld()
    await addTask(world, [gadget('holder')])
    const holder = await begin(world, 'holder', [exclusive('disk')])
    const paused = await addTask(world, [gadget('paused')])
    await declare(world, 'paused', [exclusive('disk')])
    await addTask(world, [gadget('other')])
    await declare(world, 'other', [exclusive('disk')])
    await pause(world, paused)
    expect(await locksNow(world)).toEqual(['holder has disk EXCLUSIVE', 'other wants disk EXCLUSIVE'])
    await resume(world, paused)
    await reportJob(world, { fence: holder.fence, phase: 'DONE' })
    expect(await locksNow(world)).toEqual(['other has disk EXCLUSIVE', 'paused wants disk EXCLUSIVE'])
    await reportJob(world, { fence: (await claimJob(world, 'other')).fence, phase: 'DONE' })
    await reportJob(world, { fence: (await claimJob(world, 'paused')).fence, phase: 'DONE' })
    expect(await jobsOf(world, paused)).toEqual({ task: 'SUCCEEDED', paused: 'DONE' })
  })

  it('undoes what has failed, and begins nothing', async () => {
    await using world = await createWorld()
    const retry = { attempts: 2, backoff: { initialMs: 0, factor: 1, jitter: 0 } }
    const task = await addTask(world, [gadget('one', { retry }), gadget('two')])
    const { fence } = await begin(world, 'one')
    await pause(world, task)
    const error = { code: 'GADGET_FAILED', message: 'It ended with exit code 1.' }
    await reportJob(world, { fence, phase: 'UNDOING', error })
    const undo = await claimJob(world, 'one')
    expect(undo.action).toBe('UNDO')
    await reportJob(world, { fence: undo.fence, phase: 'FAILED' })
    await pass(world, 60_000)
    expect([await claimJobs(world), (await jobsOf(world, task)).one]).toEqual([[], 'DECLARING'])
    await resume(world, task)
    expect((await begin(world, 'one')).action).toBe('RUN')
  })
})

describe('a paused cloudlet', () => {
  it('refuses new requests, and takes the answers to earlier ones', async () => {
    await using world = await createWorld()
    const { id } = await readyCloudlet(world)
    const cluster = await addInstance(world, 'CLUSTER_INST', id)
    await pause(world, id)
    await expect(addInstance(world, 'CLUSTER_INST', id)).rejects.toThrow(/is paused/)
    expect(await accepted(world.edge.upgradeCloudlet(USER, { id, version: '9' })).catch(String)).toMatch(/is paused/)
    const { fence } = await requestFor(world, id, cluster)
    expect(await world.report({ fence, phase: 'READY' }, CRM)).toBe(true)
    await resume(world, id)
    expect(await addInstance(world, 'APP_INST', cluster)).toBeTruthy()
  })
})
