import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ClaimedItem } from '../../../src/core/ports/agents.ts'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { blockersOf } from '../../../src/families/pipelines/rules/blockers.ts'
import { queryBlockerInputs } from '../../../src/families/pipelines/store/blocker-queries.ts'
import type { WorkloadInput } from '../../../src/projects/rules/normalise-workload.ts'
import {
  accepted,
  addEvent,
  addJob,
  addProject,
  failed,
  phaseOf,
  phasesOf,
  RUNTIME,
  refused,
  sendReport,
  succeeded,
  TEMPLATE,
} from '../../testkit/pipelines.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { until } from '../../testkit/wait.ts'
import { addPrincipal, createWorld, USER, type World } from '../../testkit/world.ts'

/** Places of one runtime type: labels, capacity and drains, as claims see them. */

let world: World
beforeAll(async () => {
  world = await createWorld()
  await addPrincipal(world.pool, RUNTIME)
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  await world.pool.query('truncate object, work, wake, root_queue, place cascade')
})

const labelsOf = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([key, value]) => ({ key, value }))

interface Place {
  readonly labels?: Readonly<Record<string, string>>
  readonly capacity?: number
}
const register = (name: string, { labels = {}, capacity }: Place = {}, viewer: Viewer = RUNTIME) =>
  accepted(
    world.pipelines.registerPlace(viewer, {
      ...{ name, type: 'process', labels: labelsOf(labels) },
      ...(capacity !== undefined && { capacity }),
    }),
  )

let projects = 0
async function project(template: WorkloadInput = {}): Promise<string> {
  const name = `placed-${++projects}`
  await addProject(world, name, { workerTemplate: { ...TEMPLATE, ...template } })
  return name
}
const inZone = (zone: string) => ({ targetLabels: labelsOf({ zone }) })

/** Claims for a place, without the wait for work. */
async function claim(instance: string, { max = 500, engine = world.engineHost } = {}): Promise<readonly ClaimedItem[]> {
  const request = { instance, types: ['process'], targets: [instance], max, leaseMs: 30_000 }
  const { items } = await accepted(engine.agents.claim(RUNTIME, request))
  await world.settle()
  return items
}
const names = (items: readonly ClaimedItem[]) => items.map(({ name, action }) => (action === 'START' ? name : action))
const report = async (items: readonly ClaimedItem[], outcome: object) => {
  for (const { fence } of items) expect(await sendReport(world, { fence, ...outcome })).toBe(true)
  await world.settle()
}

describe('labels', () => {
  test('a start goes only to a place that has all of them', async () => {
    await register('eu', { labels: { zone: 'eu', disk: 'ssd' } })
    await register('us', { labels: { zone: 'us' } })
    const id = await addEvent(world, await project(inZone('us')))
    expect(await claim('eu')).toEqual([])
    expect(await claim('nowhere')).toEqual([])
    expect(names(await claim('us'))).toEqual(['worker'])
    expect(await phaseOf(world, id)).toBe('STARTING')
    const [both] = [await addEvent(world, await project({ targetLabels: labelsOf({ zone: 'eu', disk: 'ssd' }) }))]
    expect(await claim('us')).toEqual([])
    expect(names(await claim('eu'))).toEqual(['worker'])
    expect(await phaseOf(world, both)).toBe('STARTING')
  })

  test('without them any place will do, also one that is not registered', async () => {
    const name = await project()
    await addEvent(world, name)
    expect(names(await claim('unregistered'))).toEqual(['worker'])
  })

  test('a job has those of its worker unless it says otherwise, and a guest of its workspace starts beside it', async () => {
    await register('eu', { labels: { zone: 'eu' } })
    await register('us', { labels: { zone: 'us' } })
    const id = await addEvent(world, await project({ ...inZone('eu'), workspace: true }))
    await claim('eu')
    await addJob(world, id, 'same')
    await addJob(world, id, 'other', { ...TEMPLATE, ...inZone('us') })
    await addJob(world, id, 'guest', { ...TEMPLATE, ...inZone('us'), workspace: true })
    expect(names(await claim('us'))).toEqual(['other'])
    expect(names(await claim('eu'))).toEqual(['same', 'guest'])
  })

  test('work that no place suits does not hide the work behind it', async () => {
    await register('us', { labels: { zone: 'us' } })
    const europe = await project(inZone('eu'))
    for (let i = 0; i < 5; i++) await addEvent(world, europe)
    await addEvent(world, await project())
    expect(names(await claim('us', { max: 2 }))).toEqual(['worker'])
  })
})

describe('capacity', () => {
  const running = async (name: string) => {
    const { rows } = await world.pool.query<{ n: number }>(
      `select count(*)::integer as n from workload w join place p on p.id = w.place_id join object o on o.id = w.object_id
       where p.name = $1 and o.phase in ('STARTING', 'RUNNING', 'UNKNOWN')`,
      [name],
    )
    return rows[0]?.n
  }

  test('many claims of several replicas at once never exceed it', async () => {
    await register('host', { capacity: 3 })
    const name = await project()
    for (let i = 0; i < 20; i++) await addEvent(world, name)
    await using second = await world.second()
    const claims = Array.from({ length: 24 }, (_, i) =>
      claim('host', { max: 2, engine: i % 2 === 0 ? world.engineHost : second }),
    )
    const items = (await Promise.all(claims)).flat()
    expect(items).toHaveLength(3)
    expect(await running('host')).toBe(3)
    await report(items.slice(0, 2), succeeded)
    expect(names((await Promise.all([claim('host'), claim('host')])).flat())).toEqual(['worker', 'worker'])
    expect(await running('host')).toBe(3)
  })

  test('workers and jobs have a capacity each, so workers that wait for their jobs cannot starve them', async () => {
    await register('host', { capacity: 1 })
    const name = await project({ workspace: true })
    const id = await addEvent(world, name)
    await addEvent(world, name)
    const workers = await claim('host')
    expect(names(workers)).toEqual(['worker'])
    await addJob(world, id, 'one')
    await addJob(world, id, 'guest', { ...TEMPLATE, workspace: true })
    const jobs = await claim('host')
    expect(names(jobs)).toEqual(['one'])
    expect(await claim('host')).toEqual([])
    await report(jobs, failed)
    expect(names(await claim('host'))).toEqual(['guest'])
  })

  test('a full place still removes what has ended, and adopts what it has lost', async () => {
    await register('host', { capacity: 1 })
    const name = await project()
    await addEvent(world, name)
    await addEvent(world, name)
    // The trees of a claim are locked beside each other, so either worker may be the one that finds the place.
    const [{ objectId = '' } = {}] = await claim('host')
    const { rows } = await world.pool.query<{ id: string }>('select root_id as id from object where id = $1', [
      objectId,
    ])
    const first = rows[0]?.id ?? ''
    world.clock.advance(31_000)
    await world.settle()
    expect(await phaseOf(world, first)).toBe('UNKNOWN')
    const [adopted] = await claim('host')
    expect(adopted).toMatchObject({ action: 'START', attempt: 2 })
    await accepted(world.pipelines.cancelEvent(USER, { id: first }))
    await world.settle()
    // Until it is removed, its process may run, so nothing is started in its place.
    const removals = await claim('host')
    expect(names(removals)).toEqual(['REMOVE'])
    await sendReport(world, { fence: removals[0]?.fence ?? '', done: true })
    expect(names(await claim('host'))).toEqual(['worker'])
  })

  test('a claim that waits gets work when there is room, within it and with its labels', async () => {
    await register('host', { capacity: 1, labels: { zone: 'eu' } })
    const request = { instance: 'host', types: ['process'], targets: ['host'], max: 5, leaseMs: 30_000, waitMs: 20_000 }
    const { agents } = world.engineHost
    const waiting = accepted(agents.claim(RUNTIME, request))
    await until(() => agents.waitingClaims === 1, { what: 'the claim waits' })
    await addEvent(world, await project(inZone('us')))
    await until(() => agents.waitingClaims === 1, { what: 'the claim waits again' })
    await addEvent(world, await project(inZone('eu')))
    expect(names((await waiting).items)).toEqual(['worker'])
    const next = accepted(agents.claim(RUNTIME, request))
    await until(() => agents.waitingClaims === 1, { what: 'the claim waits' })
    await addEvent(world, await project(inZone('eu')))
    await until(() => agents.waitingClaims === 1, { what: 'the claim waits again' })
    await report((await waiting).items, succeeded)
    expect(names((await next).items)).toEqual(['worker'])
    expect(await running('host')).toBe(1)
  })
})

describe('a drained place', () => {
  test('goes on with what runs, takes nothing new but guests of its workspaces, and takes work again', async () => {
    await register('host')
    const id = await addEvent(world, await project({ workspace: true }))
    const workers = await claim('host')
    const { places } = await accepted(world.pipelines.drainPlace(USER, { name: 'host', reason: 'new disks' }))
    expect(places).toMatchObject([
      { name: 'host', drainedBy: USER.name, drainReason: 'new disks', running: { WORKER: 1 } },
    ])
    await addEvent(world, await project())
    await addJob(world, id, 'alone')
    await addJob(world, id, 'guest', { ...TEMPLATE, workspace: true })
    const guests = await claim('host')
    expect(names(guests)).toEqual(['guest'])
    await report([...guests, ...workers], succeeded)
    expect(await phasesOf(world, id)).toMatchObject({ worker: 'SUCCEEDED', guest: 'SUCCEEDED' })
    // To register again, as a runtime does that was restarted, does not end the drain.
    await register('host', { capacity: 5 })
    expect(names(await claim('host'))).not.toContain('worker')
    await accepted(world.pipelines.undrainPlace(USER, { name: 'host' }))
    expect(names(await claim('host'))).toContain('worker')
  })

  test('gives nothing to a claim that waits for it', async () => {
    await register('host')
    const { agents } = world.engineHost
    const request = { instance: 'host', types: ['process'], targets: ['host'], max: 5, leaseMs: 30_000, waitMs: 1_000 }
    const waiting = accepted(agents.claim(RUNTIME, request))
    await until(() => agents.waitingClaims === 1, { what: 'the claim waits' })
    await accepted(world.pipelines.drainPlace(USER, { name: 'host' }))
    await addEvent(world, await project())
    expect((await waiting).items).toEqual([])
  })

  test('is chosen by an administrator only, and by its name', async () => {
    await register('host')
    const editor = viewerOf('USER')
    expect(await refused(world.pipelines.drainPlace(editor, { name: 'host' }))).toMatchObject({
      type: 'ForbiddenError',
    })
    expect(await refused(world.pipelines.drainPlace(RUNTIME, { name: 'host' }))).toMatchObject({
      type: 'ForbiddenError',
    })
    const missing = world.pipelines.drainPlace(USER, { name: 'host', type: 'container' })
    expect(await refused(missing)).toMatchObject({ type: 'NotFoundError' })
  })
})

describe('a workload that waits', () => {
  const blockers = async (id: string) => {
    const now = world.clock.now()
    return blockersOf(
      id,
      await queryBlockerInputs(world.pool, [{ id, kind: 'WORKER' }], new Date(now.getTime() - 60_000), now),
    )
  }

  test('says whether labels, a drain, the capacity or the loss of all places keep it', async () => {
    // Agents of other tests are gone.
    world.clock.advance(61_000)
    const id = await addEvent(world, await project(inZone('eu')))
    expect(await blockers(id)).toMatchObject([{ reason: 'AGENT', connected: false }])
    await register('us', { labels: { zone: 'us' } })
    await claim('us')
    expect(await blockers(id)).toMatchObject([{ reason: 'PLACE', problem: 'LABELS', places: [] }])
    await register('eu', { labels: { zone: 'eu' }, capacity: 1 })
    expect(await blockers(id)).toMatchObject([{ reason: 'PLACE', problem: 'LOST', places: ['eu'] }])
    await claim('eu')
    const next = await addEvent(world, await project(inZone('eu')))
    expect(await blockers(next)).toMatchObject([{ reason: 'PLACE', problem: 'FULL', places: ['eu'] }])
    await accepted(world.pipelines.drainPlace(USER, { name: 'eu' }))
    expect(await blockers(next)).toMatchObject([{ reason: 'PLACE', problem: 'DRAINED', places: ['eu'] }])
    world.clock.advance(61_000)
    expect(await blockers(next)).toMatchObject([{ reason: 'PLACE', problem: 'LOST', places: ['eu'] }])
  })

  test('outlasts a drain, and is not started with labels that nobody has', async () => {
    await register('eu', { labels: { zone: 'eu' } })
    await accepted(world.pipelines.drainPlace(USER, { name: 'eu' }))
    const patient = await addEvent(world, await project(inZone('eu')))
    const hopeless = await addEvent(world, await project(inZone('mars')))
    for (let i = 0; i < 3; i++) {
      world.clock.advance(200_000)
      await claim('eu')
    }
    expect(await phaseOf(world, patient)).toBe('STARTING')
    expect(await phaseOf(world, hopeless)).toBe('SCHEDULING_FAILED')
  })
})

describe('a registration', () => {
  test('is of the principal: that of another changes nothing', async () => {
    await register('host', { labels: { zone: 'eu' } })
    const other = viewerOf('AGENT', { name: 'other', actor: 'RUNTIME', principalId: v7() })
    await addPrincipal(world.pool, other)
    await register('host', { labels: { zone: 'us' }, capacity: 1 }, other)
    await addEvent(world, await project(inZone('eu')))
    expect(names(await claim('host'))).toEqual(['worker'])
  })

  test('has bounds', async () => {
    const at = (more: object, viewer = RUNTIME) =>
      refused(world.pipelines.registerPlace(viewer, { name: 'host', type: 'process', labels: [], ...more }))
    expect(await at({ capacity: 0 })).toMatchObject({ fields: [{ path: 'input.capacity' }] })
    expect(await at({ labels: [{ key: ' ', value: '' }] })).toMatchObject({ fields: [{ path: 'input.labels.0.key' }] })
    expect(await at({}, { ...RUNTIME, types: ['container'] })).toMatchObject({ type: 'ForbiddenError' })
    expect(await at({}, { ...RUNTIME, targets: ['there'] })).toMatchObject({ type: 'ForbiddenError' })
    expect(await at({}, USER)).toMatchObject({ type: 'ForbiddenError' })
    await world.pool.query(
      `insert into place (id, principal_id, type, name, labels, registered_at)
       select gen_random_uuid(), $1, 'process', 'place-' || n, '{}', now() from generate_series(1, 1000) n`,
      [RUNTIME.principalId],
    )
    expect(await at({})).toMatchObject({ type: 'LimitError', limit: 1_000 })
    await register('place-7', { capacity: 2 })
  })
})
