import { expect, test } from 'vitest'
import type { ClaimedItem } from '../../../src/core/ports/agents.ts'
import { without } from '../../../src/families/limit-requests.ts'
import { accepted, claimAt, failed, RUNTIME, succeeded, TEMPLATE, workerViewer } from '../../testkit/pipelines.ts'
import { SEED, seeded } from '../../testkit/seed.ts'
import { soak } from '../../testkit/soak.ts'
import { createWorld, DEPLOYER, item, USER, type World } from '../../testkit/world.ts'

/**
 * Workers, jobs and deploy items that ask for the same limits end in many ways, while two engines decide and connections are cut. Then
 * the log is read: at no moment has more run than a limit allows, and in the end all limits are free.
 */

const ROOTS = soak(70, 1_000)
const BOUNDS = {
  few: { max: 4, maxPerKey: 2, weights: [{ key: 'a', weight: 3 }] },
  keyed: { maxPerKey: 1 },
  rated: { rate: { count: 3, perMs: 5_000 } },
  newest: { maxPerKey: 1, strategy: 'CANCEL_RUNNING', debounceMs: 300 },
} as const
const KEYS = ['a', 'b', 'c']

/** A cut connection makes an error of whatever ran on it; everything else is one. */
const CUT = /terminat|connection|ECONNRESET|EPIPE/i
const surviving = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
  work.catch((error: Error) => {
    if (!CUT.test(error.message)) throw error
    return otherwise
  })

interface Request {
  readonly limit: keyof typeof BOUNDS
  readonly key: string
  readonly priority?: number
}

/** Adds the requests of the objects that are there now. A job asks for nothing that its worker holds. */
async function note(world: World, known: Map<string, readonly Request[]>): Promise<void> {
  const { rows } = await surviving(
    world.pool.query<{ id: string; limits: readonly Request[]; above: readonly Request[] }>(
      `select o.id, s.spec -> 'limits' as limits, coalesce(w.spec -> 'limits', '[]') as above
      from object o join object_spec s on s.object_id = o.id left join object_spec w on w.object_id = o.parent_id and o.kind = 'JOB'
      where o.kind in ('WORKER', 'JOB', 'DEPLOY_ITEM') and s.spec ? 'limits'`,
    ),
    { rows: [] } as never,
  )
  for (const { id, limits, above } of rows) known.set(id, without(limits, above) as readonly Request[])
}

const RUNS = new Set(['STARTING', 'RUNNING', 'UNKNOWN', 'PROGRESSING'])

/** Replays the log: what has run at once is never more than the bounds. Returns how much has run at most. */
async function mostAtOnce(world: World, known: ReadonlyMap<string, readonly Request[]>): Promise<number> {
  const { rows } = await world.pool.query<{ id: string; to: string; at: Date }>(
    `select object_id as id, "to", at from phase_change where revision is not null order by batch_id, idx`,
  )
  const { count, perMs } = BOUNDS.rated.rate
  const starts = new Map<string, number[]>()
  const running = new Set<string>()
  let most = 0
  for (const { id, to, at } of rows) {
    const requests = known.get(id)
    if (!requests) continue
    const isNew = RUNS.has(to) && !running.has(id)
    if (!RUNS.has(to)) running.delete(id)
    if (!isNew) continue
    // The log has only the claim of an item, which comes later.
    const rated = to === 'STARTING' ? requests.find(({ limit }) => limit === 'rated') : undefined
    if (rated) {
      const all = [...(starts.get(rated.key) ?? []), at.getTime()]
      starts.set(rated.key, all)
      expect(all.filter((one) => one > at.getTime() - perMs).length, `rated, seed ${SEED}`).toBeLessThanOrEqual(count)
    }
    running.add(id)
    const all = [...running].flatMap((one) => known.get(one) ?? [])
    for (const { limit, key } of requests) {
      const NONE = Number.POSITIVE_INFINITY
      const { max = NONE, maxPerKey = NONE } = BOUNDS[limit] as { max?: number; maxPerKey?: number }
      const held = all.filter((one) => one.limit === limit)
      expect(held.length, `${limit}, seed ${SEED}`).toBeLessThanOrEqual(max)
      expect(held.filter((one) => one.key === key).length, `${limit} ${key}, seed ${SEED}`).toBeLessThanOrEqual(
        maxPerKey,
      )
      most = Math.max(most, held.length)
    }
  }
  return most
}

test('no moment has more than a limit allows, whatever is cut, and none of it leaks', async () => {
  const random = seeded()
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const requests = (): readonly Request[] =>
    pick([
      [{ limit: 'few' as const, key: pick(KEYS) }],
      [{ limit: 'keyed' as const, key: pick(KEYS) }],
      [{ limit: 'newest' as const, key: pick(KEYS) }],
      [{ limit: 'rated' as const, key: pick(KEYS), priority: pick([0, 5]) }],
      [
        { limit: 'few' as const, key: pick(KEYS), priority: 5 },
        { limit: 'rated' as const, key: pick(KEYS) },
      ],
      [
        { limit: 'few' as const, key: pick(KEYS) },
        { limit: 'keyed' as const, key: pick(KEYS) },
      ],
    ])
  await using world = await createWorld()
  await using other = await world.second()
  const { agents } = world.engineHost
  const template = { ...TEMPLATE, retry: { attempts: 2, backoff: { initialMs: 0, jitter: 0 } } }
  const limits = new Map<string, string>()
  for (const [name, bounds] of Object.entries(BOUNDS))
    limits.set(
      name,
      (await accepted(world.services.flow.createLimit(USER, { project: 'default', name, ...bounds }))).objectId,
    )
  const change = (name: keyof typeof BOUNDS) => {
    const { flow } = world.services
    const id = limits.get(name) ?? ''
    // Nothing is allowed that the log is not judged by.
    return pick([
      () => flow.pauseLimit(USER, { id }),
      () => flow.resumeLimit(USER, { id }),
      () => flow.overrideLimit(USER, { id, key: pick(KEYS), maxPerKey: pick([0, 1]), ttlMs: 20_000 }),
    ])()
  }

  const cut = () =>
    world.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  /** Both engines reconcile due trees at the same time. */
  const drive = async () => {
    const due = await surviving(world.due(), [])
    await Promise.all(
      due.flatMap((id) =>
        [world.engineHost, other].map(({ runner }) => surviving(runner.reconcile(id, true), 'gone' as const)),
      ),
    )
  }
  const known = new Map<string, readonly Request[]>()
  const roots: { readonly id: string; readonly isEvent: boolean }[] = []
  const claimed: { readonly by: typeof USER; readonly item: ClaimedItem }[] = []
  const nothing = { ok: true, results: [] } as never
  const finish = async ({ by, item: { fence, action, kind } }: (typeof claimed)[number], isWell: boolean) => {
    const ofItem = { phase: action === 'DELETE' ? 'GONE' : isWell ? 'SUCCEEDED' : 'FAILED' } as const
    const ofWorkload = action === 'REMOVE' ? ({ done: true } as const) : isWell ? succeeded : failed
    const report = { fence, ...(kind === 'DEPLOY_ITEM' ? ofItem : ofWorkload) }
    await surviving(agents.report(by, [report]), nothing)
  }
  const claim = async (max: number) => {
    for (const item of await surviving(claimAt(world, 'here', max), [])) claimed.push({ by: RUNTIME, item })
    for (const item of await surviving(world.claim(max), [])) claimed.push({ by: DEPLOYER, item })
  }
  let n = 0
  const steps: (() => Promise<unknown>)[] = [
    async () => {
      await surviving(
        world.projects.updateProject(USER, { name: 'default', workerTemplate: { ...template, limits: requests() } }),
        nothing,
      )
      const created = world.pipelines.createEvent(USER, { project: 'default', source: 's', type: 't' })
      const done = await surviving(created, { ok: true, eventIds: [], events: [], taskIds: [] })
      if (done.ok) roots.push(...done.eventIds.map((id) => ({ id, isEvent: true })))
    },
    async () => {
      n += 1
      const deployItems = ['x', 'y'].map((name) => ({ ...item(name), limits: requests() }))
      const input = { project: 'default', name: `shop-${n}`, spec: { deployItems }, reconcile: true }
      const done = await surviving(world.commands.createInstallation(USER, input), nothing)
      if (done.ok && done.objectId) roots.push({ id: done.objectId, isEvent: false })
    },
    () => claim(5),
    async () => {
      const one = claimed.splice(Math.floor(random() * claimed.length), 1)[0]
      if (one) await finish(one, random() < 0.8)
    },
    async () => {
      const root = random() < 0.3 ? roots[Math.floor(random() * roots.length)] : undefined
      if (!root?.isEvent) return
      n += 1
      const spec = { ...TEMPLATE, limits: requests() }
      await surviving(world.pipelines.createJob(workerViewer(root.id), { name: `job-${n}`, spec }), nothing)
    },
    async () => {
      const root = random() < 0.15 ? roots[Math.floor(random() * roots.length)] : undefined
      if (!root) return
      const { id } = root
      const isGone = random() < 0.3
      const mutation = root.isEvent
        ? isGone
          ? world.pipelines.deleteEvent(USER, { id })
          : world.pipelines.cancelEvent(USER, { id })
        : isGone
          ? world.commands.deleteInstallation(USER, { id, force: false, withoutUninstall: false })
          : world.commands.cancelInstallation(USER, { id })
      await surviving<unknown>(mutation, null)
    },
    async () => world.clock.advance(random() < 0.1 ? 31_000 : 100),
    async () => random() < 0.2 && surviving<unknown>(change(pick(['few', 'keyed', 'rated', 'newest'])), null),
  ]
  while (roots.length < ROOTS) {
    const some = Array.from({ length: 10 }, () => pick(steps))
    const cutting = random() < 0.15 ? surviving<unknown>(cut(), null) : null
    await Promise.all([...some.map((step) => step()), drive(), cutting])
    await note(world, known)
  }
  // Without further faults everything ends.
  for (const id of limits.values()) await accepted(world.services.flow.resumeLimit(USER, { id }))
  const open = `select count(*)::integer as n from limit_ticket`
  for (let rounds = 0; ; rounds++) {
    await surviving(world.recoverStalled(), undefined)
    await surviving(world.settle(), undefined)
    await claim(500)
    for (const one of claimed.splice(0)) await finish(one, true)
    await surviving(world.settle(), undefined)
    world.clock.advance(31_000)
    const { rows } = await surviving(world.pool.query<{ n: number }>(open), { rows: [{ n: -1 }] } as never)
    if (rows[0]?.n === 0) break
    expect(rounds, `still open: ${rows[0]?.n}, seed ${SEED}`).toBeLessThan(500)
  }
  await note(world, known)
  expect(await mostAtOnce(world, known)).toBeGreaterThan(2)
})
