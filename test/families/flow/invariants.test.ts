import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import type { InvariantAfter } from '../../../src/families/flow/rules/normalise-invariant.ts'
import { anotherDriver, type Driver } from '../../testkit/deployments.ts'
import { accepted, addProject, refused } from '../../testkit/pipelines.ts'
import { seeded } from '../../testkit/seed.ts'
import { soak } from '../../testkit/soak.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { until } from '../../testkit/wait.ts'
import { createWorld, item, USER, type World } from '../../testkit/world.ts'

/** Jobs of root installations that begin only after a success in another project. */

let world: World
let other: Driver
beforeAll(async () => {
  world = await createWorld()
  other = await anotherDriver(world)
})
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** Spec number `n`, whose import `image` has a value of its own. */
const spec = (n: number, image?: string): SpecInput => ({
  imports: [{ name: 'image', required: false, ...(image !== undefined && { value: image }) }],
  deployItems: [item('web', [], { n })],
})

let pairs = 0
/** Two projects, the second of which has the invariant unless it is left out. */
async function environments(after: Partial<InvariantAfter> | null = {}) {
  const [staging, production] = [`staging-${++pairs}`, `production-${pairs}`]
  for (const project of [staging, production]) await addProject(world, project)
  const invariant = after && (await addInvariant(production, { project: staging, ...after }))
  return { staging, production, invariant: invariant ?? '' }
}
const addInvariant = async (project: string, after: InvariantAfter, name = 'first') =>
  (await accepted(world.services.invariants.createInvariant(USER, { project, name, after }))).objectId

/** Both engines reconcile what is due at the same time. */
async function settle(): Promise<void> {
  for (let due = await world.due(); due.length > 0; due = await world.due())
    await Promise.all(
      due.flatMap((id) => [world, other].map(({ engineHost }) => engineHost.runner.reconcile(id, false))),
    )
}
async function create(project: string, wanted: SpecInput, name = 'shop'): Promise<string> {
  const { objectId } = await accepted(
    world.commands.createInstallation(USER, { project, name, spec: wanted, reconcile: true }),
  )
  await settle()
  return objectId
}
async function update(id: string, wanted: SpecInput): Promise<void> {
  await accepted(world.commands.updateInstallation(USER, { id, spec: wanted, reconcile: true }))
  await settle()
}
const phaseOf = async (id: string): Promise<string | undefined> =>
  (await world.pool.query<{ phase: string }>('select phase from object where id = $1', [id])).rows[0]?.phase

/** Fences of the items that run, by the root. */
const fences = new Map<string, string>()
async function claimAll(): Promise<void> {
  for (const claimed of await world.claim()) {
    const { rows } = await world.pool.query<{ root: string }>('select root_id as root from object where id = $1', [
      claimed.objectId,
    ])
    fences.set(rows[0]?.root ?? '', claimed.fence)
  }
}
/** Ends the item that runs in the tree. */
async function end(rootId: string, phase: 'SUCCEEDED' | 'FAILED' = 'SUCCEEDED'): Promise<void> {
  await claimAll()
  const error = phase === 'FAILED' ? { code: 'BROKEN', message: 'It broke.', retryable: false } : null
  expect(await world.report({ fence: fences.get(rootId) ?? '', phase, error })).toBe(true)
}
const waits = 'PENDING_DEPENDENCIES'
const runs = 'PROGRESSING'

async function blockersOf(id: string) {
  const { rows } = await world.pool.query<{ project: string; name: string; invariant: string }>(
    `select w.name, i.name as invariant, i.after_project as project from invariant_wait w join invariant i on i.id = w.invariant_id
      where w.root_id = $1`,
    [id],
  )
  return rows
}

describe('a job of a root installation in a project with an invariant', () => {
  test('waits for a success of the other root with the same spec, whatever its own values', async () => {
    const { staging, production } = await environments()
    const shop = await create(production, spec(1, 'v1'))
    expect(await phaseOf(shop)).toBe(waits)
    expect(await blockersOf(shop)).toEqual([{ project: staging, name: 'shop', invariant: 'first' }])
    // Another spec, another root, and a failure are none.
    const before = await create(staging, spec(2, 'v2'))
    await end(before)
    await end(await create(staging, spec(1), 'other'))
    await update(before, spec(1, 'v2'))
    await end(before, 'FAILED')
    expect(await phaseOf(shop)).toBe(waits)
    await accepted(world.commands.reconcileInstallation(USER, { id: before, mode: 'STANDARD' }))
    await settle()
    await end(before)
    expect(await phaseOf(shop)).toBe(runs)
    expect(await blockersOf(shop)).toEqual([])
    await end(shop)

    // The success stays true when the other root has another spec, and its job runs.
    await update(before, spec(3))
    await update(shop, spec(2))
    expect(await phaseOf(shop)).toBe(runs)
    await end(shop)
    await update(shop, spec(3))
    expect(await phaseOf(shop)).toBe(waits)
  })

  test('asks for a root of another name and for values, if the record says so', async () => {
    const { staging, production } = await environments({ name: 'candidate', sameValues: ['image'] })
    const candidate = await create(staging, spec(1, 'v1'), 'candidate')
    await end(candidate)
    const shop = await create(production, spec(1, 'v2'))
    expect(await phaseOf(shop)).toBe(waits)
    await update(shop, spec(1, 'v1'))
    expect(await phaseOf(shop)).toBe(runs)
    expect(await phaseOf(await create(production, spec(1), 'bare'))).toBe(waits)
  })

  test('is not let through by FORCE, and stops no deletion and no cancellation', async () => {
    const { production } = await environments()
    const shop = await create(production, spec(1))
    await accepted(world.commands.reconcileInstallation(USER, { id: shop, mode: 'FORCE' }))
    await settle()
    expect(await phaseOf(shop)).toBe(waits)
    await accepted(world.commands.cancelInstallation(USER, { id: shop }))
    await settle()
    expect(await phaseOf(shop)).toBe('ABORTED')
    await accepted(world.commands.reconcileInstallation(USER, { id: shop, mode: 'STANDARD' }))
    await settle()
    expect(await phaseOf(shop)).toBe(waits)
    await accepted(world.commands.deleteInstallation(USER, { id: shop, force: false, withoutUninstall: false }))
    await settle()
    expect(await phaseOf(shop)).toBeUndefined()
    expect(await blockersOf(shop)).toEqual([])
  })

  test('waits in a new root without imports, also where the process has created one before there was the invariant', async () => {
    const { staging, production } = await environments(null)
    const bare = { deployItems: [item('web')] }
    expect(await phaseOf(await create(production, bare, 'before'))).toBe(runs)
    await addInvariant(production, { project: staging })
    const shop = await create(production, bare)
    expect(await phaseOf(shop)).toBe(waits)
    await end(await create(staging, bare))
    expect(await phaseOf(shop)).toBe(runs)
  })

  test('is admitted in a paused tree as well, which hands out nothing', async () => {
    const { staging, production } = await environments()
    const shop = await create(production, spec(1))
    await accepted(world.services.pause(USER, { id: shop }))
    await end(await create(staging, spec(1)))
    await settle()
    expect([await phaseOf(shop), await world.claim()]).toEqual([runs, []])
    await accepted(world.services.resume(USER, { id: shop }))
    await settle()
    await end(shop)
    expect(await phaseOf(shop)).toBe('SUCCEEDED')
  })

  test('is judged again when the record is edited, and begins when it is deleted', async () => {
    const { staging, production, invariant } = await environments()
    await end(await create(staging, spec(1), 'base'))
    const [shop, shelf] = [await create(production, spec(1)), await create(production, spec(2), 'shelf')]
    expect([await phaseOf(shop), await phaseOf(shelf)]).toEqual([waits, waits])
    const edit = { id: invariant, after: { project: staging, name: 'base' } }
    await accepted(world.services.invariants.updateInvariant(USER, edit))
    await settle()
    expect([await phaseOf(shop), await phaseOf(shelf)]).toEqual([runs, waits])
    await accepted(world.services.invariants.deleteInvariant(USER, { id: invariant }))
    await settle()
    expect(await phaseOf(shelf)).toBe(runs)
    // The project is again one without invariants, whose new roots begin in the transaction that creates them.
    expect(await phaseOf(await create(production, spec(3), 'free'))).toBe(runs)
  })

  test('waits on when the other root is deleted, and is woken by a new one of its name', async () => {
    const { staging, production } = await environments()
    const before = await create(staging, spec(1))
    await end(before)
    await accepted(world.commands.deleteInstallation(USER, { id: before, force: false, withoutUninstall: true }))
    await settle()
    expect(await phaseOf(before)).toBeUndefined()
    const shop = await create(production, spec(1))
    expect(await phaseOf(shop)).toBe(waits)
    await end(await create(staging, spec(1)))
    expect(await phaseOf(shop)).toBe(runs)
  })

  test('waits on when the other project is deleted, though another one gets its name', async () => {
    const { staging, production } = await environments()
    await world.projects.deleteProject(USER, { name: staging })
    const shop = await create(production, spec(1))
    expect(await blockersOf(shop)).toEqual([{ project: staging, name: 'shop', invariant: 'first' }])
    await addProject(world, staging)
    await end(await create(staging, spec(1)))
    expect(await phaseOf(shop)).toBe(waits)
    await world.projects.deleteProject(USER, { name: production })
  })
})

test('a plan says what its job would wait for, and who waits says it in blockedBy', async () => {
  const { staging, production } = await environments({ sameValues: ['image'] })
  const wanted = { project: production, name: 'shop', spec: spec(1), reconcile: true }
  const plan = await accepted(world.commands.planInstallation(USER, { create: wanted }))
  const message = `The invariant first asks for it: no run of ${staging}/shop with this spec and its image has succeeded.`
  expect(plan.blockers).toContainEqual({
    ...{ reason: 'INVARIANT', message, kind: 'INSTALLATION', path: ['shop'], objectCount: 1 },
  })
  await end(await create(staging, spec(1)))
  const after = await accepted(world.commands.planInstallation(USER, { create: wanted }))
  expect(after.blockers.map(({ reason }) => reason)).not.toContain('INVARIANT')
})

describe('the author of an invariant', () => {
  test('must be able to read the other project, which is another one', async () => {
    const { staging, production } = await environments(null)
    const { rows } = await world.pool.query<{ id: string; name: string }>('select id, name from project')
    const idOf = (project: string) => rows.find(({ name }) => name === project)?.id ?? ''
    const own = viewerOf('ADMIN', { projects: [idOf(production)] })
    const both = viewerOf('ADMIN', { projects: [idOf(production), idOf(staging)] })
    const input = { project: production, name: 'first', after: { project: staging } }
    const { createInvariant } = world.services.invariants
    expect(await refused(createInvariant(own, input))).toMatchObject({
      ...{ type: 'ForbiddenError', message: `You have no access to a project ${staging}.` },
    })
    expect(await refused(createInvariant(both, { ...input, after: { project: production } }))).toMatchObject({
      fields: [{ path: 'input.after.project', message: 'must be another project' }],
    })
    await accepted(createInvariant(both, input))
  })
})

/** A transaction of the test, which holds a lock that others want. */
async function holding(lock: string, values: readonly unknown[]): Promise<() => Promise<void>> {
  const client = await world.pool.connect()
  await client.query('begin')
  await client.query(lock, [...values])
  return async () => {
    await client.query('rollback')
    client.release()
  }
}
const waitingFor =
  (event: string, count = 1) =>
  async () =>
    (
      await world.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = $1`,
        [event],
      )
    ).rowCount === count

test.each([
  ['a run that ends', 'advisory', 1],
  ['a deletion of the record', 'transactionid', 2],
])('%s while a root is about to wait waits until that is written, and wakes it', async (what, lock, count) => {
  const { staging, production, invariant } = await environments()
  const before = await create(staging, spec(1))
  await claimAll()
  const { objectId: shop } = await accepted(
    world.commands.createInstallation(USER, { project: production, name: 'shop', spec: spec(1), reconcile: true }),
  )
  const release = await holding(
    `insert into invariant_wait (root_id, invariant_id, project_id, name) values ($1, $2, $3, 'held')`,
    [shop, invariant, v7()],
  )
  // It has read that there is no success, and does not get any further.
  const asking = other.engineHost.runner.reconcile(shop, false)
  await until(waitingFor('transactionid'), { what: 'the root is about to wait' })
  const ending =
    what === 'a run that ends'
      ? world.report({ fence: fences.get(before) ?? '', phase: 'SUCCEEDED' })
      : accepted(world.services.invariants.deleteInvariant(USER, { id: invariant }))
  await until(waitingFor(lock, count), { what: `${what} waits` })
  await release()
  await Promise.all([asking, ending])
  await settle()
  expect(await phaseOf(shop)).toBe(runs)
})

test('a root that asks while a run ends waits until that is written, and begins', async () => {
  const { staging, production } = await environments()
  const before = await create(staging, spec(1))
  await claimAll()
  const { objectId: shop } = await accepted(
    world.commands.createInstallation(USER, { project: production, name: 'shop', spec: spec(1), reconcile: true }),
  )
  // The run has its lock, has looked for those that wait, and does not get any further: its exports are replaced later.
  const release = await holding('lock table data_object in share mode', [])
  const ending = world.report({ fence: fences.get(before) ?? '', phase: 'SUCCEEDED' })
  await until(waitingFor('relation'), { what: 'the run is about to commit' })
  const asking = other.engineHost.runner.reconcile(shop, false)
  await until(waitingFor('advisory'), { what: 'the root asks' })
  await release()
  await Promise.all([asking, ending])
  await settle()
  expect(await phaseOf(shop)).toBe(runs)
})

/** A root as the model has it. */
interface Root {
  readonly id: string
  spec: string
  job: 'none' | 'waits' | 'runs'
  /** The spec of the job that runs. */
  used: string
  /** Somebody has requested another job while one ran. */
  next: boolean
}

test('whoever may begin, begins: random orders of runs, edits and deletions on two engines', async () => {
  const random = seeded()
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  for (let round = 0; round < soak(6, 200); round++) {
    const { staging, production } = await environments(null)
    const stagings = new Map<string, Root>()
    const productions = new Map<string, Root>()
    const succeeded = new Map<string, Set<string>>()
    let invariant: { id: string; after: InvariantAfter } | null = null
    const order: string[] = []
    const compared = (key: string): string => (invariant?.after.sameValues?.length ? key : key.slice(0, 1))
    const mayBegin = (name: string, { spec: asked }: Root): boolean =>
      !invariant ||
      [...(succeeded.get(invariant.after.name ?? name) ?? [])].some((one) => compared(one) === compared(asked))
    const specOf = (key: string) => spec(Number(key[0]), key[1])
    const after = (): InvariantAfter => ({
      project: staging,
      name: pick([null, 'base', 'shop']),
      sameValues: pick([[], ['image']]),
    })

    const write = async (roots: Map<string, Root>, project: string, name: string) => {
      const wanted = pick(['1a', '1b', '2a', '2b'])
      order.push(`${project} ${name} gets ${wanted}`)
      const root = roots.get(name)
      if (!root) {
        const id = await create(project, specOf(wanted), name)
        roots.set(name, { id, spec: wanted, job: 'waits', used: '', next: false })
        return
      }
      await update(root.id, specOf(wanted))
      root.spec = wanted
      if (root.job === 'runs') root.next = true
      else root.job = 'waits'
    }
    const finish = async (roots: Map<string, Root>, project: string, name: string) => {
      const root = roots.get(name)
      if (root?.job !== 'runs') return
      const good = random() < 0.7
      order.push(`${project} ${name} ends ${good ? 'well' : 'badly'}`)
      await end(root.id, good ? 'SUCCEEDED' : 'FAILED')
      // An edit fails the job that runs with the old spec.
      if (good && root.used === root.spec && project === staging)
        succeeded.set(name, (succeeded.get(name) ?? new Set()).add(root.used))
      root.job = root.next ? 'waits' : 'none'
      root.next = false
    }
    const remove = async (name: string) => {
      const root = stagings.get(name)
      if (root?.job !== 'none') return
      order.push(`${name} is deleted`)
      const input = { id: root.id, force: false, withoutUninstall: true }
      await accepted(world.commands.deleteInstallation(USER, input))
      await settle()
      stagings.delete(name)
      succeeded.delete(name)
    }
    const rule = async () => {
      const { createInvariant, updateInvariant, deleteInvariant } = world.services.invariants
      const wanted = after()
      if (!invariant) {
        const id = (await accepted(createInvariant(USER, { project: production, name: 'rule', after: wanted })))
          .objectId
        invariant = { id, after: wanted }
      } else if (random() < 0.3) {
        await accepted(deleteInvariant(USER, { id: invariant.id }))
        invariant = null
      } else {
        await accepted(updateInvariant(USER, { id: invariant.id, after: wanted }))
        invariant = { ...invariant, after: wanted }
      }
      order.push(`the rule is ${JSON.stringify((invariant as { after: InvariantAfter } | null)?.after ?? null)}`)
      await settle()
    }

    await rule()
    for (let step = 0; step < 40; step++) {
      const name = pick(['base', 'shop'])
      const [roots, project] = random() < 0.5 ? [stagings, staging] : [productions, production]
      const chance = random()
      if (chance < 0.4) await write(roots, project, name)
      else if (chance < 0.8) await finish(roots, project, name)
      else if (chance < 0.9) await remove(name)
      else await rule()
      for (const [project, roots] of [[staging, stagings] as const, [production, productions] as const])
        for (const [name, root] of roots) {
          if (root.job === 'waits' && (project === staging || mayBegin(name, root)))
            Object.assign(root, { job: 'runs', used: root.spec })
          const expected = { waits, runs, none: expect.stringMatching(/SUCCEEDED|FAILED/) }[root.job]
          expect({ order, project, name, phase: await phaseOf(root.id) }).toEqual({
            order,
            project,
            name,
            phase: expected,
          })
        }
    }
    for (const [, { id, job }] of [...stagings, ...productions]) if (job === 'runs') await end(id)
  }
}, 300_000)
