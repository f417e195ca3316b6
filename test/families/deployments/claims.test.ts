import { describe, expect, it } from 'vitest'
import type { ClaimedItem } from '../../../src/core/ports/agents.ts'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { anotherDriver } from '../../testkit/deployments.ts'
import { at, itemsOf, logOf, names, only, pass, refused, renewed, shown, tryAgain } from '../../testkit/items.ts'
import { addTask, gadget, RUNNER } from '../../testkit/operations.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { until } from '../../testkit/wait.ts'
import { createWorld, DEPLOYER, item, USER, type World } from '../../testkit/world.ts'

const LEASE = 30_000
/** Another agent of the same name. */
const OTHER: Viewer = viewerOf('AGENT', { name: DEPLOYER.name, actor: 'DEPLOYER' })

interface Wanted {
  readonly types?: readonly string[]
  readonly targets?: readonly string[] | null
  readonly max?: number
  readonly leaseMs?: number
}
const ask = (
  world: World,
  { types = ['mock'], targets = null, max = 500, leaseMs = LEASE }: Wanted,
  viewer: Viewer = DEPLOYER,
) => world.engineHost.agents.claim(viewer, { instance: 'test', types, targets, max, leaseMs })
async function claimed(world: World, wanted: Wanted, viewer?: Viewer): Promise<readonly ClaimedItem[]> {
  const outcome = await ask(world, wanted, viewer)
  if (!outcome.ok) throw new Error(outcome.refusal.message)
  await world.settle()
  return outcome.items
}
const of = (type: string, name: string, target: string | null = null) => ({ ...item(name), type, target })

describe('a claim', () => {
  it('takes a batch, first offered first, over all trees', async () => {
    await using world = await createWorld()
    await world.create('one', { deployItems: [item('a'), item('b', ['a'])] })
    await world.create('two', { deployItems: [item('c')] })
    const [a] = await world.claim(1)
    await world.report({ fence: a?.fence ?? '', phase: 'SUCCEEDED' })
    await world.create('three', { deployItems: [item('d'), item('e')] })
    expect(names(await world.claim(2))).toEqual(['c', 'b'])
    expect(names(await world.claim(1))).toEqual(['d'])
    expect(names(await world.claim(10))).toEqual(['e'])
    expect(await world.claim()).toEqual([])
  })

  it('takes only what was triggered, of the types that it names', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [of('ansible', 'a'), of('mock', 'b'), of('ansible', 'c')] })
    expect(names(await claimed(world, { types: ['ansible'] }))).toEqual(['a', 'c'])
    expect(await claimed(world, { types: ['terraform'] })).toEqual([])
    expect(names(await claimed(world, { types: ['terraform', 'mock'] }))).toEqual(['b'])
  })

  it('takes only what is for its targets, or for any', async () => {
    await using world = await createWorld()
    const deployItems = [of('mock', 'eu', 'eu'), of('mock', 'us', 'us'), of('mock', 'any'), of('mock', 'asia', 'asia')]
    await world.create('shop', { deployItems })
    expect(names(await claimed(world, { targets: ['eu'] }))).toEqual(['eu', 'any'])
    expect(names(await claimed(world, { targets: ['us', 'asia'] }, { ...DEPLOYER, targets: ['us'] }))).toEqual(['us'])
    expect(await claimed(world, {}, { ...DEPLOYER, targets: ['us'] })).toEqual([])
    expect(names(await claimed(world, {}))).toEqual(['asia'])
  })

  it('is refused when it is for more than 500 or for none', async () => {
    await using world = await createWorld()
    for (const max of [0, -1, 501]) {
      expect(await refused(ask(world, { max }))).toMatchObject({
        type: 'InvalidInputError',
        fields: [{ path: 'input.max' }],
      })
    }
  })

  it('gives a lease of at least a second and at most ten minutes', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b')] })
    const now = world.clock.now().getTime()
    expect(only(await claimed(world, { max: 1, leaseMs: 1 })).leaseUntil).toEqual(new Date(now + 1_000))
    expect(only(await claimed(world, { max: 1, leaseMs: 1e9 })).leaseUntil).toEqual(new Date(now + 600_000))
  })

  it('gives each item to exactly one of several concurrent claims, in several processes', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    for (const name of ['one', 'two', 'three']) {
      await world.create(name, { deployItems: Array.from({ length: 12 }, (_, i) => item(`${name}-${i}`)) })
    }
    const claims = Array.from({ length: 8 }, (_, i) =>
      (i % 2 === 0 ? world : other).engineHost.agents.claim(i < 4 ? DEPLOYER : OTHER, {
        instance: `process-${i}`,
        types: ['mock'],
        targets: null,
        max: 7,
        leaseMs: LEASE,
      }),
    )
    const batches = (await Promise.all(claims)).map((outcome) => (outcome.ok ? outcome.items : []))
    const first = names(batches.flat())
    expect(new Set(first).size).toBe(first.length)
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(7)
    const rest = names(await world.claim())
    expect(new Set([...first, ...rest]).size).toBe(36)
    expect(first.length + rest.length).toBe(36)
  })
})

describe('a viewer that is no deployer', () => {
  it('by its role, may neither claim nor renew nor report nor log', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    for (const viewer of [USER, viewerOf('READER')]) {
      const { agents } = world.engineHost
      expect(await refused(ask(world, {}, viewer))).toMatchObject({ type: 'ForbiddenError' })
      expect(await refused(agents.renew(viewer, ['x'], LEASE))).toMatchObject({ type: 'ForbiddenError' })
      expect(await refused(agents.report(viewer, []))).toMatchObject({ type: 'ForbiddenError' })
      expect(await refused(agents.appendLogs(viewer, []))).toMatchObject({ type: 'ForbiddenError' })
    }
    expect((await world.see(...at('a'))).phase).toBe('INIT')
  })

  it('by its types, may not claim others', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [of('ansible', 'a')] })
    const viewer: Viewer = { ...DEPLOYER, types: ['mock'] }
    expect(await refused(ask(world, { types: ['mock', 'ansible'] }, viewer))).toMatchObject({ type: 'ForbiddenError' })
    expect((await world.see(...at('a'))).phase).toBe('INIT')
  })

  it('gets its own work however much of the same types is there before it for agents of another kind', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: Array.from({ length: 12 }, (_, i) => item(`item-${i}`)) })
    await addTask(world, [gadget('job')])
    const types = ['mock', 'gadget-job']
    expect(names(await claimed(world, { types, max: 2 }, RUNNER))).toEqual(['job'])
    expect(names(await claimed(world, { types, max: 2 }))).toEqual(['item-0', 'item-1'])
  })

  it('by its actor, may not claim an item, nor report one of a deployer with the same name', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b')] })
    const { fence } = only(await world.claim(1))
    for (const actor of ['CRM', 'RUNTIME', 'GADGET_RUNNER', 'WORKER'] as const) {
      const viewer: Viewer = { ...DEPLOYER, actor }
      expect(await claimed(world, {}, viewer)).toEqual([])
      const result = await shown(world, { fence, phase: 'SUCCEEDED' }, viewer)
      expect(result).toMatchObject({ ok: false, refusal: { type: 'ForbiddenError' } })
    }
    expect(await itemsOf(world)).toEqual({ a: 'PROGRESSING', b: 'INIT' })
  })

  it('by its name, may neither report nor renew what another claimed', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    expect(await world.report({ fence, phase: 'SUCCEEDED' }, OTHER)).toBe('StaleReportError')
    expect(await renewed(world, fence, OTHER)).toBe('LOST')
    expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
    await pass(world, LEASE)
    expect(only(await world.claim(1, OTHER)).attempt).toBe(2)
  })
})

describe('a lease', () => {
  it('is kept by renewals', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    for (let i = 0; i < 4; i++) {
      await pass(world, LEASE - 1)
      expect(await world.claim(1, OTHER)).toEqual([])
      expect(await renewed(world, fence)).toBe('HELD')
    }
    await pass(world, LEASE - 1)
    expect(await world.claim(1, OTHER)).toEqual([])
    await pass(world, 1)
    expect(names(await world.claim(1, OTHER))).toEqual(['a'])
  })

  it('is never shortened by a renewal', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await claimed(world, { leaseMs: 600_000 }))
    expect(await renewed(world, fence, DEPLOYER, 1_000)).toBe('HELD')
    await pass(world, 599_999)
    expect(await world.claim()).toEqual([])
  })

  it('that is lost hands the item to another deployer, with a higher attempt and a new fence', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a', [], { n: 1 })] })
    const first = only(await world.claim())
    await pass(world, LEASE - 1)
    expect(await world.claim(1, OTHER)).toEqual([])
    await pass(world, 1)
    const second = only(await world.claim(1, OTHER))
    expect(second).toMatchObject({ objectId: first.objectId, jobId: first.jobId, config: { n: 1 }, attempt: 2 })
    expect(second.fence).not.toBe(first.fence)
    const log = await logOf(world, first.objectId)
    expect(log.map(({ to }) => to)).toEqual(['PENDING', 'INIT', 'PROGRESSING', 'PROGRESSING'])
    expect(log.at(-1)).toMatchObject({
      from: 'PROGRESSING',
      actor: 'DEPLOYER',
      by: OTHER.name,
      reason: 'taken over by test',
    })
    const { rows } = await world.pool.query(`select message from phase_change where reason like 'taken over%'`)
    expect(rows).toEqual([
      { message: `The lease of test ended at ${first.leaseUntil.toISOString()} without a renewal.` },
    ])
    expect(await renewed(world, first.fence)).toBe('LOST')
    expect(await world.report({ fence: first.fence, phase: 'SUCCEEDED' })).toBe('StaleReportError')
    expect(await renewed(world, second.fence, OTHER)).toBe('HELD')
    expect(await world.report({ fence: second.fence, phase: 'SUCCEEDED' }, OTHER)).toBe(true)
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })

  it('that is lost to another process of the same deployer makes its old fence stale too', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    const first = only(await world.claim())
    await pass(world, LEASE)
    const second = only(await world.claim())
    expect(await world.report({ fence: first.fence, phase: 'FAILED' })).toBe('StaleReportError')
    // Whichever else the batch has of the same object.
    const lines = [first, second, first].map(({ fence }) => ({ fence, stream: 'STDOUT' as const, text: 'a line' }))
    expect(await world.engineHost.agents.appendLogs(DEPLOYER, lines)).toEqual({ ok: true, accepted: 1 })
    expect(await world.report({ fence: second.fence, phase: 'SUCCEEDED' })).toBe(true)
  })

  it('that has ended leaves the fence valid for a report until another agent has the work', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    await pass(world, 10 * LEASE)
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe(true)
  })

  it('that has ended can be renewed until another agent has the work', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    await pass(world, LEASE)
    expect(await renewed(world, fence)).toBe('HELD')
    await pass(world, LEASE - 1)
    expect(await world.claim(1, OTHER)).toEqual([])
  })

  it('of work that was returned, has ended or never existed is LOST', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a'), item('b')] })
    const [a, b] = await world.claim()
    await world.report({ fence: a?.fence ?? '', phase: 'PROGRESSING', error: tryAgain })
    expect(await renewed(world, a?.fence ?? '')).toBe('LOST')
    await world.report({ fence: b?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await renewed(world, b?.fence ?? '')).toBe('LOST')
    for (const fence of ['', 'nonsense', `${b?.fence.slice(0, -4)}AAAA`]) {
      expect(await renewed(world, fence)).toBe('LOST')
    }
  })

  it('that is renewed while its holder is being asked to stop keeps its new end', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence, objectId } = only(await world.claim())
    await pass(world, LEASE - 1)
    await inBetween(world, objectId, {
      first: () => renewed(world, fence),
      second: () => world.cancel(id),
    })
    const { rows } = await world.pool.query('select lease_until from work where object_id = $1', [objectId])
    expect(rows[0]).toEqual({ lease_until: new Date(world.clock.now().getTime() + LEASE) })
    expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
  })

  it('that is renewed while another claims the work, since it seemed to have ended, is not taken away', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    const { fence, objectId } = only(await world.claim())
    await pass(world, LEASE - 1)
    const { first, second } = await inBetween(world, objectId, {
      first: () => renewed(world, fence),
      meanwhile: () => world.clock.advance(1),
      second: () => world.claim(1, OTHER),
    })
    expect({ first, second }).toEqual({ first: 'HELD', second: [] })
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe(true)
  })
})

describe('nothing is offered to a second deployer before the first one’s lease has ended', () => {
  const hasty = { progressing: { ms: 1_000 }, aborting: { ms: 1_000 } }
  /** Its deployer does not stop and is overruled, with a lease that lasts. */
  const overruled = async (world: World): Promise<string> => {
    const id = await world.create('shop', { deployItems: [{ ...item('a'), timeouts: hasty }] })
    await claimed(world, { leaseMs: 100_000 })
    await pass(world, 1_000)
    await pass(world, 1_000)
    expect((await world.see('shop')).phase).toBe('FAILED')
    return id
  }

  it('not even in a later job', async () => {
    await using world = await createWorld()
    const id = await overruled(world)
    await world.reconcile(id)
    expect((await world.see(...at('a'))).phase).toBe('INIT')
    await pass(world, 97_999)
    expect(await world.claim(1, OTHER)).toEqual([])
    await pass(world, 1)
    expect(names(await world.claim(1, OTHER))).toEqual(['a'])
  })

  it('nor in the one after that', async () => {
    await using world = await createWorld()
    const id = await overruled(world)
    await world.reconcile(id)
    await world.cancel(id)
    expect((await world.see(...at('a'))).phase).toBe('ABORTED')
    await world.reconcile(id)
    await pass(world, 97_999)
    expect(await world.claim(1, OTHER)).toEqual([])
    await pass(world, 1)
    expect(names(await world.claim(1, OTHER))).toEqual(['a'])
  })

  it('nor to delete it', async () => {
    await using world = await createWorld()
    const id = await overruled(world)
    await world.remove(id)
    await pass(world, 97_999)
    expect(await world.claim(1, OTHER)).toEqual([])
    await pass(world, 1)
    expect(only(await world.claim(1, OTHER))).toMatchObject({ name: 'a', action: 'DELETE' })
  })

  it('but at once when the first one has ended its work itself', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await claimed(world, { leaseMs: 600_000 }))
    await world.report({ fence, phase: 'SUCCEEDED' })
    await world.reconcile(id)
    expect(names(await world.claim(1, OTHER))).toEqual(['a'])
  })
})

describe('an item asked to abort', () => {
  it('is not offered again; when its deployer’s lease has ended, it is ABORTED', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    await world.cancel(id)
    await pass(world, LEASE - 1)
    expect(await world.claim(1, OTHER)).toEqual([])
    await pass(world, 1)
    expect(await world.claim(1, OTHER)).toEqual([])
    expect(await world.engineHost.agents.waiting(DEPLOYER, ['mock'], null)).toEqual([])
    expect((await world.see('shop')).phase).toBe('ABORTED')
    expect(await world.report({ fence, phase: 'ABORTED' })).not.toBe(true)
  })

  it('is reported by each renewal', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    expect(await renewed(world, fence)).toBe('HELD')
    await world.cancel(id)
    expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
    expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
  })
})

describe('a dead deployer', () => {
  it('never leaves an item progressing for ever', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    await world.claim()
    await pass(world, 599_999)
    expect((await world.see(...at('a'))).phase).toBe('PROGRESSING')
    await pass(world, 1)
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'FAILED', error: { code: 'PROGRESSING_TIMEOUT' } })
    expect((await world.see('shop')).phase).toBe('FAILED')
  })

  it('is replaced by one that lives', async () => {
    await using world = await createWorld()
    await world.create('shop', { deployItems: [item('a')] })
    await world.claim()
    await pass(world, LEASE)
    expect(await world.engineHost.agents.waiting(DEPLOYER, ['mock'], null)).toEqual([{ type: 'mock', waiting: 1 }])
    expect(await world.work()).toEqual(['a'])
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })
})

interface Order<A, B> {
  readonly first: () => Promise<A>
  readonly meanwhile?: () => void
  readonly second: () => Promise<B>
}
/** Blocks both writers of an item's work until both wait, so that the first one runs first. */
async function inBetween<A, B>(world: World, objectId: string, { first, meanwhile, second }: Order<A, B>) {
  const locker = await world.pool.connect()
  const waiting = (n: number) =>
    until(
      async () => {
        const { rows } = await world.pool.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rows.length >= n
      },
      { what: `${n} wait for a lock` },
    )
  try {
    await locker.query('begin')
    await locker.query('select 1 from work where object_id = $1 for update', [objectId])
    const a = first()
    await waiting(1)
    meanwhile?.()
    const b = second()
    await waiting(2)
    await locker.query('commit')
    return { first: await a, second: await b }
  } finally {
    locker.release()
  }
}
