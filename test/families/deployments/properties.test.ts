import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { step } from '../../../src/core/machine.ts'
import type { Actor, ObjectKind, Phase } from '../../../src/core/vocabulary.ts'
import { machines } from '../../../src/families/deployments/machines.ts'
import { blockersOf } from '../../../src/families/deployments/rules/blockers.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import { queryBlockerInputs } from '../../../src/families/deployments/store/blocker-queries.ts'
import { type Move, Play } from '../../testkit/play.ts'
import { soak } from '../../testkit/soak.ts'
import { createWorld, type World } from '../../testkit/world.ts'

/** Users and deployers act at random, in any order. */

const PHASES = ['PROGRESSING', 'SUCCEEDED', 'FAILED', 'ABORTED', 'DELETING', 'GONE', 'DELETE_FAILED', 'INIT'] as const

const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const act = fc.oneof(
  often(
    6,
    fc.record({
      do: fc.constant('claim' as const),
      who: fc.nat(2),
      max: fc.integer({ min: 1, max: 3 }),
      leaseMs: fc.constantFrom(1_000, 30_000, 600_000),
    }),
  ),
  often(6, fc.record({ do: fc.constant('end' as const), which: fc.nat(5), well: fc.constantFrom(true, true, false) })),
  // Lets later actions also meet deployed trees.
  often(4, fc.record({ do: fc.constant('work' as const) })),
  often(
    4,
    fc.record({
      do: fc.constant('report' as const),
      which: fc.nat(5),
      phase: fc.option(fc.constantFrom(...PHASES)),
      retryable: fc.boolean(),
    }),
  ),
  often(2, fc.record({ do: fc.constant('renew' as const), which: fc.nat(5) })),
  often(
    4,
    fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 749, 750, 1_000, 30_000, 299_999, 300_000) }),
  ),
  often(
    2,
    fc.record({
      do: fc.constant('reconcile' as const),
      mode: fc.constantFrom('STANDARD' as const, 'IF_CHANGED' as const, 'FORCE' as const),
    }),
  ),
  often(2, fc.record({ do: fc.constant('remove' as const), force: fc.boolean(), withoutUninstall: fc.boolean() })),
  often(2, fc.record({ do: fc.constant('update' as const), reconcile: fc.boolean() })),
  often(1, fc.record({ do: fc.constant('ignore' as const), nested: fc.boolean(), ignored: fc.boolean() })),
  often(2, fc.record({ do: fc.constant('cancel' as const) })),
  often(1, fc.record({ do: fc.constant('seed' as const) })),
)
const move: fc.Arbitrary<Move> = fc.record({ act, settle: fc.constantFrom(true, true, false) })
const moves = fc.array(move, { minLength: 5, maxLength: 40 })

/** Each item may depend on any of those before it; the second nested installation may import from the first. */
interface Shape {
  readonly items: readonly (readonly boolean[])[]
  readonly nested: readonly { readonly items: number; readonly linked: boolean }[]
  readonly seeded: boolean
}
const shape: fc.Arbitrary<Shape> = fc.record({
  items: fc.array(fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), { maxLength: 4 }),
  nested: fc.array(fc.record({ items: fc.nat(2), linked: fc.boolean() }), { maxLength: 2 }),
  seeded: fc.boolean(),
})

function specOf({ items, nested, seeded }: Shape, type: string): SpecInput {
  const item = (i: number, dependsOn: readonly string[], config: unknown = {}) => ({
    name: `i${i}`,
    type,
    dependsOn,
    config,
  })
  const linked = nested.length === 2 && (nested[0]?.items ?? 0) > 0 && nested[1]?.linked === true
  return {
    imports: seeded ? [{ name: 'seed', from: `seed-${type}` }] : [],
    deployItems: items.map((edges, i) =>
      item(
        i,
        edges.slice(0, i).flatMap((edge, to) => (edge ? [`i${to}`] : [])),
        seeded && i === 0 ? { seed: '${imports.seed}' } : {},
      ),
    ),
    installations: nested.map((own, n) => ({
      name: `n${n}`,
      spec: {
        imports: linked && n === 1 ? [{ name: 'v' }] : [],
        exports: linked && n === 0 ? [{ name: 'v', value: '${deployItems.i0.exports.v}' }] : [],
        deployItems: Array.from({ length: own.items }, (_, i) => item(i, [])),
      },
    })),
  }
}

let world: World
let runs = 0
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

it(
  'every log is a legal path, the counters are right at rest, and every tree ends or says what it waits for',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(shape, { minLength: 1, maxLength: 2 }), moves, async (shapes, made) => {
        const name = `t${++runs}`
        const play = await Play.begin(
          world,
          name,
          shapes.map((s) => specOf(s, name)),
        )
        for (const next of made) {
          await play.make(next)
          world.rulesHold()
          if (!next.settle) continue
          await countersAreRight(play.rootId)
          await nothingRestsForNothing(play.rootId)
        }
        await toItsEnd(play)
        await countersAreRight(play.rootId)
        await logIsLegal(play.rootId)
        for (const cancelled of play.cancelled) await nothingWasTriggered(play.rootId, cancelled)
      }),
      { numRuns: soak(40, 1_000), interruptAfterTimeLimit: soak(100_000, 1_200_000) },
    )
  },
  soak(120_000, 1_300_000),
)

/** Users stop, deployers work well, time passes: enough of each for every deadline. */
async function toItsEnd(play: Play): Promise<void> {
  for (const id of await installationsOf(play.rootId)) await play.ignore(id, false)
  for (let quiet = 0; quiet < 60; quiet++) {
    await world.settle()
    for (let held = await play.claim(100); held.length > 0; held = await play.claim(100)) {
      for (const item of held) {
        await play.finish(item, true)
        await nothingIsReleasedEarly(play.rootId)
      }
      await world.settle()
      quiet = 0
    }
    const open = await openOf(play.rootId)
    if (open.length === 0) return
    if (await waitsForItsImport(play)) return
    world.clock.advance(30_000)
  }
  throw new Error(`it does not end: ${JSON.stringify(await openOf(play.rootId))}`)
}

async function waitsForItsImport(play: Play): Promise<boolean> {
  const open = await openOf(play.rootId)
  if (play.seeded || open.length > 1 || open[0]?.phase !== 'PENDING_DEPENDENCIES') return false
  const details = await queryBlockerInputs(world.pool, [play.rootId], world.clock.now(), world.clock.now())
  expect(blockersOf(play.rootId, details, world.clock.now())).toMatchObject([{ reason: 'IMPORT' }])
  return true
}

async function installationsOf(rootId: string): Promise<readonly string[]> {
  const { rows } = await world.pool.query<{ id: string }>(
    `select id from object where root_id = $1 and kind = 'INSTALLATION' order by id`,
    [rootId],
  )
  return rows.map(({ id }) => id)
}

/** Objects that have not ended their job, and roots with a pending job. */
async function openOf(rootId: string): Promise<readonly { name: string; phase: Phase }[]> {
  const { rows } = await world.pool.query<{ name: string; phase: Phase }>(
    `select o.name, o.phase from object o left join installation i on i.object_id = o.id
     where o.root_id = $1 and (o.job_id is distinct from o.finished_job_id
       or o.parent_id is null and (i.next_mode is not null or i.next_deletion)) order by o.id`,
    [rootId],
  )
  return rows
}

// The counts of a parent that sees to its children, from the rows. While it deletes orphans it counts them alone.
const COUNTERS = `select p.kind, p.name, p.phase, t.open, c.open as "isOpen", t.failed, c.failed as "isFailed",
    t.untriggered, c.untriggered as "isUntriggered", t.total, c.total as "isTotal"
  from object p join tally t on t.object_id = p.id cross join lateral (
    select count(*) filter (where c.job_id = p.job_id and c.finished_job_id is distinct from c.job_id)::integer as open,
      count(*) filter (where c.job_id = p.job_id and c.finished_job_id = c.job_id and c.phase <> 'SUCCEEDED')::integer as failed,
      count(*) filter (where c.job_id is distinct from p.job_id)::integer as untriggered, count(*)::integer as total
    from object c where c.parent_id = p.id
      and (p.phase not in ('INIT', 'CLEANUP_ORPHANED') or c.deletion_requested_at is not null)) c
  where p.root_id = $1 and p.job_id is distinct from p.finished_job_id
    and p.phase in ('INIT', 'CLEANUP_ORPHANED', 'PROGRESSING', 'DELETING')`

// Blockers of untriggered items: dependencies that have not succeeded in this job, or dependents that are deleted first.
const WAITING = `select c.name, c.waiting_for as "waitingFor", n.count as "is" from object p
  join object c on c.parent_id = p.id and c.job_id is distinct from p.job_id
  cross join lateral (
    select count(*)::integer from edge e join object d on d.id = case when p.phase = 'DELETING' then e.from_id else e.to_id end
    where c.id = case when p.phase = 'DELETING' then e.to_id else e.from_id end
      and (p.phase = 'DELETING' or not (d.phase = 'SUCCEEDED' and d.job_id = p.job_id and d.finished_job_id = d.job_id))) n
  where p.root_id = $1 and p.kind = 'EXECUTION' and p.phase in ('PROGRESSING', 'DELETING')
    and p.job_id is distinct from p.finished_job_id`

async function countersAreRight(rootId: string): Promise<void> {
  const { rows } = await world.pool.query(COUNTERS, [rootId])
  for (const row of rows) {
    const { isOpen: open, isFailed: failed, isUntriggered: untriggered, isTotal: total } = row
    expect(row).toMatchObject({ open, failed, untriggered, total })
  }
  await nothingIsReleasedEarly(rootId)
}

async function nothingIsReleasedEarly(rootId: string): Promise<void> {
  const waiting = await world.pool.query<{ waitingFor: number; is: number; name: string }>(WAITING, [rootId])
  for (const { waitingFor, is, name } of waiting.rows) expect({ name, waitingFor }).toEqual({ name, waitingFor: is })
}

/** An object that has not ended its job is claimed by a deployer, or has a blocker. */
async function nothingRestsForNothing(rootId: string): Promise<void> {
  const { rows } = await world.pool.query<{ id: string; what: string }>(
    `select o.id, o.kind || ' ' || o.name || ' in ' || o.phase as what from object o left join work w on w.object_id = o.id
     where o.root_id = $1 and o.job_id is distinct from o.finished_job_id and w.state is distinct from 1`,
    [rootId],
  )
  const now = world.clock.now()
  const details = await queryBlockerInputs(
    world.pool,
    rows.map(({ id }) => id),
    now,
    now,
  )
  for (const { id, what } of rows) expect(blockersOf(id, details, now), `${what} waits for nothing`).not.toEqual([])
}

interface Entry {
  readonly objectId: string
  readonly kind: ObjectKind
  readonly from: Phase | null
  readonly to: Phase
  readonly actor: Actor
  readonly revision: number | null
  readonly rejected: boolean
}
async function logIsLegal(rootId: string): Promise<void> {
  const { rows } = await world.pool.query<Entry>(
    `select object_id as "objectId", kind, "from", "to", actor, revision, rejected from phase_change
     where root_id = $1 order by batch_id, idx`,
    [rootId],
  )
  for (const [, log] of Map.groupBy(rows, ({ objectId }) => objectId)) {
    let phase: Phase | null = null
    let revision = 0
    for (const entry of log) {
      const machine = machines.find(({ kinds }) => kinds.includes(entry.kind))
      if (!machine) throw new Error(`no machine has ${entry.kind}`)
      expect(entry.from).toBe(phase)
      // A request that waits moves nothing.
      if (entry.revision === null && !entry.rejected) {
        expect(entry.to).toBe(phase)
        continue
      }
      if (entry.from === null) expect(entry.to).toBe(machine.initial)
      else expect(step(machine, entry.from, entry.actor, entry.to).ok).toBe(!entry.rejected)
      if (entry.rejected) continue
      expect(entry.revision).toBeGreaterThan(revision)
      revision = entry.revision ?? 0
      phase = entry.to
    }
    const { rows: now } = await world.pool.query('select phase from object where id = $1', [log[0]?.objectId])
    expect(now).toEqual(phase === 'GONE' ? [] : [{ phase }])
  }
}

async function nothingWasTriggered(rootId: string, { jobId, batchId }: Play['cancelled'][number]): Promise<void> {
  const { rows } = await world.pool.query(
    `select name, "to" from phase_change where root_id = $1 and job_id = $2 and batch_id > $3 and not rejected
       and kind = 'DEPLOY_ITEM' and "to" in ('INIT', 'INIT_DELETE')`,
    [rootId, jobId, batchId],
  )
  expect(rows).toEqual([])
}
