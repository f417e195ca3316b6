import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isFinished } from '../../../src/core/tree.ts'
import type { AutomaticReconcileInput } from '../../../src/families/deployments/rules/automatic-reconcile.ts'
import { type InstallationDetails, installation } from '../../../src/families/deployments/rules/details.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import { writeHold } from '../../../src/store/holds.ts'
import { exporter, importer } from '../../testkit/deployments.ts'
import { soak } from '../../testkit/soak.ts'
import { createWorld, item, USER, type World } from '../../testkit/world.ts'
import { MemoryWorld } from './memory.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const broken = () => ({ phase: 'FAILED', error: { code: 'BROKEN', message: 'It is away.' } }) as const

describe('a root that begins jobs by itself', () => {
  let world: World
  beforeEach(async () => {
    world = await createWorld()
  })
  afterEach(() => world[Symbol.asyncDispose]())

  const specOf = (automaticReconcile: AutomaticReconcileInput | null, size = 1): SpecInput => ({
    deployItems: [item('a', [], { size })],
    automaticReconcile,
  })
  const pass = async (ms: number) => {
    world.clock.advance(ms)
    await world.settle()
  }
  /** Causes of all runs that have ended, the oldest first. */
  const causes = async (id: string) =>
    (
      await world.pool.query<{ cause: string }>('select cause from run where object_id = $1 order by number', [id])
    ).rows.map(({ cause }) => cause)
  const stateOf = async (id: string) =>
    (
      await world.pool.query<{ state: InstallationDetails['automaticReconcile'] }>(
        'select automatic_reconcile as state from installation where object_id = $1',
        [id],
      )
    ).rows[0]?.state

  // The table of Landscaper's own test.
  it('retries a failure at once, then each hour, three times in all', async () => {
    const id = await world.create('shop', specOf({ afterFailure: { intervalMs: HOUR, attempts: 3 } }))
    expect(await world.work(broken)).toEqual(['a', 'a'])
    await pass(30 * MINUTE)
    expect(await world.work(broken)).toEqual([])
    await pass(31 * MINUTE)
    expect(await world.work(broken)).toEqual(['a'])
    await pass(59 * MINUTE)
    expect(await world.work(broken)).toEqual([])
    await pass(2 * MINUTE)
    expect(await world.work(broken)).toEqual(['a'])
    await pass(24 * HOUR)
    expect(await world.work(broken)).toEqual([])
    expect(await causes(id)).toEqual(['CREATED', 'AUTOMATIC', 'AUTOMATIC', 'AUTOMATIC'])

    await world.update(id, specOf({ afterFailure: { intervalMs: HOUR, attempts: 3 } }, 2))
    expect(await world.work(broken)).toEqual(['a', 'a'])
    await pass(61 * MINUTE)
    expect(await world.work()).toEqual(['a'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
    await pass(24 * HOUR)
    expect(await world.work()).toEqual([])
    expect((await causes(id)).slice(4)).toEqual(['CHANGED', 'AUTOMATIC', 'AUTOMATIC'])
  })

  it('begins a job each interval after a success, and by cron in a time zone', async () => {
    const id = await world.create('shop', specOf({ afterSuccess: { intervalMs: HOUR } }))
    await world.work()
    await pass(HOUR - 1)
    expect(await world.work()).toEqual([])
    await pass(1)
    expect(await world.work()).toEqual(['a'])
    await pass(3 * HOUR)
    expect(await world.work()).toEqual(['a'])
    // 2026-01-01, 04:00 UTC: the next 3:30 in Berlin is tomorrow, 02:30 UTC.
    await world.update(id, specOf({ afterSuccess: { cron: ['30 3 * * *'], timeZone: 'Europe/Berlin' } }))
    expect(await world.work()).toEqual(['a'])
    expect((await stateOf(id))?.due).toBe('2026-01-02T02:30:00.000Z')
    await pass(22.5 * HOUR)
    expect(await world.work()).toEqual(['a'])
    // A failure stops it, since nothing is said of failures.
    await pass(24 * HOUR)
    expect(await world.work(broken)).toEqual(['a'])
    await pass(48 * HOUR)
    expect(await world.work()).toEqual([])
    await world.reconcile(id)
    expect(await world.work()).toEqual(['a'])
    expect((await stateOf(id))?.due).not.toBeNull()
  })

  it('begins its job in time though what it imports comes again, unchanged, more often', async () => {
    const exported = () => ({ phase: 'SUCCEEDED', exports: { url: 'the same' } }) as const
    const exporterId = await world.create('db', exporter('url'))
    await world.work(exported)
    const id = await world.create('shop', {
      ...importer('url'),
      automaticReconcile: { afterSuccess: { intervalMs: 24 * HOUR } },
    })
    expect(await world.work()).toEqual(['use'])
    for (const day of [1, 2]) {
      for (let hour = 6; hour < 24; hour += 6) {
        await pass(6 * HOUR)
        await world.reconcile(exporterId)
        expect(await world.work(exported)).toEqual(['make'])
        expect((await stateOf(id))?.due).toBe(`2026-01-0${day + 1}T00:00:00.000Z`)
      }
      await pass(6 * HOUR)
      expect(await world.work()).toEqual(['use'])
    }
    const kept = Array.from({ length: 3 }, () => 'IMPORTS_CHANGED')
    expect(await causes(id)).toEqual(['CREATED', ...kept, 'AUTOMATIC', ...kept, 'AUTOMATIC'])
  })

  it('uses up its attempts though what it imports comes again meanwhile', async () => {
    const exporterId = await world.create('db', exporter('url'))
    const answer = ({ name }: { readonly name: string }) =>
      name === 'make' ? ({ phase: 'SUCCEEDED', exports: { url: 'the same' } } as const) : broken()
    await world.work(answer)
    const policy = { afterFailure: { intervalMs: HOUR, attempts: 3 } }
    const id = await world.create('shop', { ...importer('url'), automaticReconcile: policy })
    for (let round = 0; round < 5; round += 1) {
      await world.work(answer)
      await world.reconcile(exporterId)
      await world.work(answer)
      await pass(HOUR)
    }
    await world.work(answer)
    const begun = await causes(id)
    expect(begun.filter((cause) => cause === 'AUTOMATIC')).toHaveLength(3)
    expect(begun.filter((cause) => cause === 'IMPORTS_CHANGED')).toHaveLength(5)
    expect(await stateOf(id)).toMatchObject({ due: null, retries: 3 })
    await world.reconcile(id)
    expect(await world.work(answer)).toEqual(['use', 'use'])
  })

  it('begins none after a cancel, while it is ignored, or for a spec that nobody has asked for', async () => {
    const policy = { afterSuccess: { intervalMs: HOUR }, afterFailure: { intervalMs: HOUR } }
    const id = await world.create('shop', specOf(policy))
    await world.work()
    await world.ignore(id, true)
    await pass(2 * HOUR)
    expect(await world.due()).toEqual([])
    expect(await world.work()).toEqual([])
    await world.ignore(id, false)
    expect(await world.work()).toEqual(['a'])
    await world.update(id, specOf(policy, 2), false)
    await pass(2 * HOUR)
    expect(await world.work()).toEqual([])
    await world.reconcile(id)
    await world.cancel(id)
    expect(await world.see('shop')).toMatchObject({ phase: 'ABORTED' })
    await pass(2 * HOUR)
    expect(await world.work()).toEqual([])
    await world.reconcile(id)
    expect(await world.work()).toEqual(['a'])
    // A policy that goes takes its clock with it.
    await world.update(id, specOf(null, 3))
    expect(await world.work()).toEqual(['a'])
    await pass(2 * HOUR)
    expect(await world.work()).toEqual([])
    expect(await stateOf(id)).toBeNull()
  })

  it('passes a time over while automation is held, or its editor has lost the right', async () => {
    const id = await world.create('shop', specOf({ afterSuccess: { intervalMs: HOUR } }))
    await world.work()
    const hold = { id: world.clock.id(), projectId: null, reason: 'a drill', by: 'ada', at: world.clock.now() }
    await writeHold(world.pool, hold)
    await pass(HOUR)
    expect(await world.work()).toEqual([])
    expect(await stateOf(id)).toMatchObject({ due: '2026-01-01T02:00:00.000Z', problem: 'Automation is held.' })
    await world.pool.query('delete from automation_hold')
    await pass(HOUR)
    expect(await world.work()).toEqual(['a'])
    await world.pool.query('update principal set administrator = false where id = $1', [USER.principalId])
    await pass(HOUR)
    expect(await world.work()).toEqual([])
    expect((await stateOf(id))?.problem).toContain('ada may not reconcile installation')
    await world.pool.query('update principal set administrator = true where id = $1', [USER.principalId])
    await pass(HOUR)
    expect(await world.work()).toEqual(['a'])
  })

  it('begins one job, however many engines find it due', async () => {
    const id = await world.create('shop', specOf({ afterSuccess: { intervalMs: HOUR } }))
    await world.work()
    await using second = await world.second()
    for (let round = 0; round < soak(5, 100); round += 1) {
      world.clock.advance(HOUR)
      await Promise.all([world.engineHost, second].map(({ runner }) => runner.reconcile(id, false)))
      expect(await world.work()).toEqual(['a'])
    }
    expect(await causes(id)).toHaveLength(soak(5, 100) + 1)
  })

  it.each<[string, SpecInput, path: string]>([
    ['nothing', specOf({}), 'automaticReconcile'],
    ['no times', specOf({ afterSuccess: {} }), 'automaticReconcile.afterSuccess'],
    ['two kinds of times', specOf({ afterSuccess: { intervalMs: HOUR, cron: ['* * * * *'] } }), 'afterSuccess'],
    ['too short an interval', specOf({ afterFailure: { intervalMs: 999 } }), 'afterFailure.intervalMs'],
    ['no attempt', specOf({ afterFailure: { intervalMs: HOUR, attempts: 0 } }), 'afterFailure.attempts'],
    ['no line of cron', specOf({ afterSuccess: { cron: ['each day'] } }), 'afterSuccess.cron.0'],
    ['no time zone', specOf({ afterSuccess: { cron: ['0 3 * * *'], timeZone: 'Berlin' } }), 'afterSuccess.timeZone'],
    [
      'a nested installation',
      { installations: [{ name: 'n', spec: specOf({ afterSuccess: { intervalMs: HOUR } }) }] },
      'installations.0.spec.automaticReconcile',
    ],
  ])('refuses %s', async (_, spec, path) => {
    await expect(world.create('shop', spec)).rejects.toThrow(path)
  })
})

interface Policy {
  readonly success: number | null
  readonly failure: number | null
  readonly attempts: number | null
}

/** The rule once more, from the ends of jobs alone: it knows neither clocks nor rows. */
class Model {
  due: number | null = null
  #retries = 0
  #isEdited = false
  #hasFailed = false
  readonly #policy: Policy
  constructor(policy: Policy) {
    this.#policy = policy
  }
  asked(): void {
    this.#retries = 0
    this.#isEdited = false
    this.due = null
  }
  edited(isRunning: boolean): void {
    this.#retries = 0
    this.#isEdited = isRunning
    this.due = null
  }
  ended(at: number, isGood: boolean): void {
    const { success, failure, attempts } = this.#policy
    this.#hasFailed = !isGood
    if (isGood) this.#retries = 0
    const isUsedUp = attempts !== null && this.#retries >= attempts
    const wait = isGood ? success : isUsedUp ? null : failure
    this.due = this.#isEdited || wait === null ? null : isGood || this.#retries > 0 ? at + wait : at
  }
  /** The event that comes by itself at this time. */
  at(now: number, isHeld: boolean): 'begins' | 'passed over' | null {
    if (this.due === null || this.due > now) return null
    const { success, failure } = this.#policy
    if (isHeld) this.due = now + ((this.#hasFailed ? failure : success) ?? 0)
    else {
      this.due = null
      this.#retries = this.#hasFailed ? this.#retries + 1 : 0
    }
    return isHeld ? 'passed over' : 'begins'
  }
}

it('begins jobs when a model says so, whatever is edited, cancelled, held or asked for meanwhile', async () => {
  const interval = fc.constantFrom(1_000, 5_000, 60_000)
  const policies = fc
    .record({
      success: fc.option(interval),
      failure: fc.option(interval),
      attempts: fc.option(fc.integer({ min: 1, max: 3 })),
    })
    .filter(({ success, failure }) => success !== null || failure !== null)
  const actions = fc.oneof(
    { weight: 5, arbitrary: fc.record({ type: fc.constant('end' as const), well: fc.boolean() }) },
    {
      weight: 5,
      arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.constantFrom(1, 999, 4_000, 5_000, 55_000) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constantFrom('ask' as const, 'edit' as const, 'cancel' as const, 'hold' as const),
      }),
    },
  )
  const seen = { begins: 0, 'passed over': 0 }
  await fc.assert(
    fc.asyncProperty(policies, fc.array(actions, { minLength: 5, maxLength: 60 }), async (policy, plan) => {
      const { success, failure, attempts } = policy
      const world = new MemoryWorld({ budget: 1_000 })
      const specOf = (size: number): SpecInput => ({
        deployItems: [{ name: 'a', type: 'mock', config: { size } }],
        automaticReconcile: {
          afterSuccess: success === null ? null : { intervalMs: success },
          afterFailure: failure === null ? null : { intervalMs: failure, attempts },
        },
      })
      const id = await world.create('shop', specOf(0))
      await world.settle()
      const model = new Model(policy)
      let size = 0
      let runs = 1
      for (const action of plan) {
        const isRunning = !isFinished(world.rows.of(id).row)
        if (action.type === 'pass') await world.pass(action.ms)
        else if (action.type === 'hold') world.isHeld = !world.isHeld
        else if (action.type === 'cancel') {
          await world.cancel(id)
          // No deployer has taken it, so that it ends at once.
          if (isRunning) model.due = null
        } else if (action.type === 'ask') {
          if (isRunning) continue
          await world.reconcile(id, 'STANDARD')
          model.asked()
          runs++
        } else if (action.type === 'edit') {
          await world.update(id, specOf(++size), false)
          model.edited(isRunning)
        } else if (action.type === 'end' && isRunning) {
          const [{ row } = { row: null }] = [...world.rows.all.values()].filter((one) => one.row.kind === 'DEPLOY_ITEM')
          if (!row) continue
          await world.claim(row.id)
          await world.report(id, [{ itemId: row.id, answer: action.well ? 'done' : 'failed', v: 1 }])
          model.ended(world.clock.now().getTime(), action.well)
        }
        await world.settle()
        const happened = model.at(world.clock.now().getTime(), world.isHeld)
        if (happened) seen[happened]++
        if (happened === 'begins') runs++
        expect(world.begun.get(id)).toBe(runs)
        const { row } = world.rows.of(id)
        const due = installation(world.rows.of(id) as never).automaticReconcile?.due ?? null
        if (isFinished(row)) expect(due && Date.parse(due)).toBe(model.due)
      }
    }),
    { numRuns: soak(500, 20_000) },
  )
  expect(Math.min(seen.begins, seen['passed over'])).toBeGreaterThan(20)
})
