import { expect, test } from 'vitest'
import type { ClaimedItem } from '../../src/core/ports/agents.ts'
import { setCapacity } from '../../src/families/pipelines/store/slots.ts'
import { accepted, addProject, claimAt, failed, RUNTIME, succeeded } from '../testkit/pipelines.ts'
import { SEED, seeded } from '../testkit/seed.ts'
import { soak } from '../testkit/soak.ts'
import { createWorld, USER, type World } from '../testkit/world.ts'

/**
 * Events that end in every way there is, while the database's connections are cut again and again in the
 * middle of whatever two engines do: slots are never given twice, and none is lost.
 */

const EVENTS = soak(120, 1_000)
const OVERALL = 12
const LIMITS = [3, 7, null] as const

/** A cut connection makes an error of whatever ran on it; everything else is one. */
const CUT = /terminat|connection|ECONNRESET|EPIPE/i
const surviving = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
  work.catch((error: Error) => {
    if (!CUT.test(error.message)) throw error
    return otherwise
  })

const HELD = `select p.name, count(*)::integer as n from object o join project p on p.id = o.project_id
  where o.kind = 'WORKER' and o.phase in ('STARTING', 'RUNNING', 'UNKNOWN') group by p.name`

async function heldBy(world: World): Promise<ReadonlyMap<string, number>> {
  const { rows } = await world.pool.query<{ name: string; n: number }>(HELD)
  return new Map(rows.map(({ name, n }) => [name, n]))
}

test('slots are never leaked and never taken twice over many events with random kills', async () => {
  const random = seeded()
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  await using world = await createWorld()
  await using other = await world.second()
  await setCapacity(world.pool, { maxWorkers: OVERALL, maxJobs: 10 })
  const projects = LIMITS.map((_, i) => `leak-${i}`)
  for (const [i, name] of projects.entries())
    await addProject(world, name, { limits: { maxWorkers: LIMITS[i] ?? null } })

  const cut = () =>
    world.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  const check = async () => {
    const held = await surviving(heldBy(world), new Map<string, number>())
    const all = [...held.values()].reduce((sum, n) => sum + n, 0)
    expect(all, `seed ${SEED}`).toBeLessThanOrEqual(OVERALL)
    for (const [i, name] of projects.entries())
      expect(held.get(name) ?? 0, `${name}, seed ${SEED}`).toBeLessThanOrEqual(LIMITS[i] ?? OVERALL)
  }
  /** Both engines reconcile due trees at the same time. */
  const drive = async () => {
    const due = await surviving(world.due(), [])
    await Promise.all(
      due.flatMap((id) =>
        [world.engineHost, other].map(({ runner }) => surviving(runner.reconcile(id, true), 'gone' as const)),
      ),
    )
  }

  const events: string[] = []
  const claimed: ClaimedItem[] = []
  const end = async (item: ClaimedItem) => {
    const reports = [{ phase: 'RUNNING' } as const, succeeded, failed]
    const report = item.action === 'REMOVE' ? ({ done: true } as const) : (pick(reports) ?? succeeded)
    await surviving(world.engineHost.agents.report(RUNTIME, [{ fence: item.fence, ...report }]), {
      ok: true,
      results: [],
    })
  }
  const steps: (() => Promise<unknown>)[] = [
    async () => {
      const project = pick(projects) ?? ''
      const created = world.pipelines.createEvent(USER, { project, source: 's', type: 't' })
      const done = await surviving(created, { ok: true, eventIds: [], events: [], taskIds: [] })
      if (done.ok) events.push(...done.eventIds)
    },
    async () => claimed.push(...(await surviving(claimAt(world, 'here', 5), []))),
    async () => {
      const item = claimed.splice(Math.floor(random() * claimed.length), 1)[0]
      if (item) await end(item)
    },
    async () => {
      const id = random() < 0.1 ? pick(events) : undefined
      if (id) await surviving(world.pipelines.cancelEvent(USER, { id }), { ok: true, objectId: id })
    },
    async () => {
      const id = random() < 0.05 ? pick(events) : undefined
      if (id) await surviving(world.pipelines.deleteEvent(USER, { id }), { ok: true, objectId: id })
    },
    async () => world.clock.advance(random() < 0.1 ? 31_000 : 100),
  ]
  while (events.length < EVENTS) {
    const some = Array.from({ length: 12 }, () => (random() < 0.4 ? steps[0] : pick(steps)))
    const cutting = random() < 0.15 ? surviving<unknown>(cut(), null) : null
    await Promise.all([...some.map((step) => step?.()), drive(), cutting])
    await check()
  }
  // Without further faults everything ends, by its runtime or since that is lost.
  const open = `select count(*)::integer as n from object where kind = 'WORKER' and phase = any('{PENDING,STARTING,RUNNING,UNKNOWN}')`
  for (let rounds = 0; ; rounds++) {
    const { rows } = await surviving(world.pool.query<{ n: number }>(open), { rows: [{ n: -1 }] } as never)
    if (rows[0]?.n === 0) break
    expect(rounds, `still open: ${rows[0]?.n}, seed ${SEED}`).toBeLessThan(2_000)
    await surviving(world.recoverStalled(), undefined)
    await surviving(world.settle(), undefined)
    // A connection may have been cut that is noticed only now.
    for (const { fence, action } of await surviving(claimAt(world), []))
      await accepted(
        surviving(
          world.engineHost.agents.report(RUNTIME, [{ fence, ...(action === 'START' ? succeeded : { done: true }) }]),
          { ok: true, results: [] },
        ),
      )
    world.clock.advance(31_000)
    await check()
  }
  expect(await heldBy(world)).toEqual(new Map())
  const { rows } = await world.pool.query('select count(*)::integer as n from workload where state < 2')
  expect(rows).toEqual([{ n: 0 }])
})
