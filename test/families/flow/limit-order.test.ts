import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LimitRequest } from '../../../src/core/limit-request.ts'
import type { KeyBoundsInput, LimitInput } from '../../../src/families/flow/rules/normalise-limit.ts'
import type { Client } from '../../../src/store/client.ts'
import {
  type AskedLimits,
  grantLimits,
  lockSlots,
  releaseTickets,
  wakeBehind,
  wakeNextOfLimits,
} from '../../../src/store/limit-tickets.ts'
import { accepted } from '../../testkit/pipelines.ts'
import { SEED, seeded } from '../../testkit/seed.ts'
import { soak } from '../../testkit/soak.ts'
import { createWorld, item, USER, type World } from '../../testkit/world.ts'
import { jain } from './jain.ts'

/** The order of limits, with no engine: who asks, ends, leaves, or is woken is played on the tickets alone. */

let world: World
let objects: readonly string[]
beforeAll(async () => {
  world = await createWorld()
  await world.create('shop', { deployItems: Array.from({ length: 120 }, (_, i) => item(`i${i}`)) })
  const { rows } = await world.pool.query<{ id: string }>(
    `select id from object where kind = 'DEPLOY_ITEM' order by id`,
  )
  objects = rows.map(({ id }) => id)
})
afterAll(() => world[Symbol.asyncDispose]())

async function transaction<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = await world.pool.connect()
  try {
    await client.query('begin')
    const done = await work(client)
    await client.query('commit')
    return done
  } finally {
    client.release()
  }
}

interface Limit extends LimitInput {
  readonly id: string
  readonly overrides: Map<string, KeyBoundsInput & { readonly until: number }>
  isPaused: boolean
}
interface Waiter extends AskedLimits {
  readonly asked: number
}

/** The same rules in memory. */
class Model {
  readonly limits = new Map<string, Limit>()
  readonly waiting = new Map<string, Waiter>()
  readonly holding = new Map<string, AskedLimits>()
  readonly grants: { readonly limit: string; readonly key: string; readonly at: number }[] = []
  readonly due = new Map<string, number>()

  /** True if all that it asks for has room now, when these hold nothing and these are not counted. */
  hasRoom({ limits }: AskedLimits, now: number, without: AskedLimits | null = null): boolean {
    const asked = new Map<string, number>()
    return limits.every(({ limit: name, key }) => {
      const limit = this.limits.get(name)
      if (!limit || limit.isPaused) return false
      const override = limit.overrides.get(key)
      const own = override && override.until > now ? override : null
      const held = [...this.holding.values()].filter((one) => one !== without).flatMap((one) => one.limits)
      const ofLimit = held.filter((one) => one.limit === name)
      const ofKey = ofLimit.filter((one) => one.key === key)
      asked.set(name, (asked.get(name) ?? 0) + 1)
      const maxPerKey = own?.maxPerKey ?? limit.maxPerKey ?? Number.POSITIVE_INFINITY
      const rate = own?.rate ?? limit.rate
      const counted = this.grants.filter(
        (one) => one.limit === name && one.key === key && one.at > now - (rate?.perMs ?? 0),
      )
      const mine = without?.limits.some((one) => one.limit === name && one.key === key) ? 1 : 0
      return (
        ofLimit.length + (asked.get(name) ?? 0) <= (limit.max ?? Number.POSITIVE_INFINITY) &&
        ofKey.length < maxPerKey &&
        (!rate || counted.length - mine < rate.count)
      )
    })
  }
}

const KEYS = ['a', 'b', 'c']

class Play {
  now = Date.UTC(2026, 0, 1)
  asked = 0
  readonly model = new Model()
  readonly order: string[] = []

  async addLimit(name: string, input: LimitInput): Promise<void> {
    const { objectId } = await accepted(world.services.flow.createLimit(USER, { project: 'default', name, ...input }))
    this.model.limits.set(name, { ...input, id: objectId, overrides: new Map(), isPaused: false })
  }
  async edit(name: string, input: LimitInput): Promise<void> {
    const before = this.model.limits.get(name) as Limit
    await this.#onWorldClock(() => world.services.flow.updateLimit(USER, { id: before.id, ...input }))
    this.model.limits.set(name, { ...input, id: before.id, overrides: before.overrides, isPaused: before.isPaused })
    await this.follow()
  }
  async override(name: string, key: string, bounds: KeyBoundsInput, ttlMs: number): Promise<void> {
    const limit = this.model.limits.get(name) as Limit
    await this.#onWorldClock(() => world.services.flow.overrideLimit(USER, { id: limit.id, key, ...bounds, ttlMs }))
    limit.overrides.set(key, { ...bounds, until: this.now + ttlMs })
    await this.follow()
  }
  async pause(name: string, isPaused: boolean): Promise<void> {
    const limit = this.model.limits.get(name) as Limit
    const change = isPaused ? world.services.flow.pauseLimit : world.services.flow.resumeLimit
    await this.#onWorldClock(() => change(USER, { id: limit.id }))
    limit.isPaused = isPaused
    await this.follow()
  }
  async #onWorldClock<T extends { readonly ok: boolean }>(change: () => Promise<T>): Promise<void> {
    world.clock.advance(this.now - world.clock.now().getTime())
    expect(await change()).toMatchObject({ ok: true })
  }

  /** They ask side by side, as trees do that share a transaction. */
  async ask(asking: readonly AskedLimits[], isWoken = false): Promise<void> {
    const { model } = this
    for (const one of asking) {
      if (!isWoken) model.waiting.set(one.id, { ...one, asked: this.asked++ })
      model.due.delete(one.id)
    }
    const leads = await transaction(async (client) => {
      await lockSlots(client)
      const told = await grantLimits(client, 'DEPLOY_ITEM', asking, new Date(this.now))
      for (const { id } of asking) {
        const { isGranted, dueAt } = told.get(id) as NonNullable<ReturnType<typeof told.get>>
        if (dueAt) model.due.set(id, dueAt.getTime())
        if (isGranted) this.#start(id)
      }
      return asking.some(({ id }) => told.get(id)?.leads)
    })
    this.#judge(asking)
    if (leads) await this.#change((client) => wakeBehind(client, [null], new Date(this.now), null))
  }
  #start(id: string): void {
    const { model } = this
    const one = model.waiting.get(id) as Waiter
    model.waiting.delete(id)
    model.holding.set(id, one)
    this.order.push(one.limits[0]?.key ?? '')
    for (const { limit, key } of one.limits) model.grants.push({ limit, key, at: this.now })
  }

  /** Nobody has started who takes the room of one that asks for one limit alone and comes before it. */
  #judge(asking: readonly AskedLimits[]): void {
    const { model, now } = this
    const singles = [...model.waiting.values()].filter(({ limits }) => limits.length === 1)
    for (const { id } of asking) {
      const started = model.holding.get(id) as Waiter | undefined
      // If two objects come before each other at two limits, the older one starts, before others too.
      if (!started || this.#hasRivals(started)) continue
      for (const waiter of singles) {
        const wanted = waiter.limits[0] as LimitRequest
        const own = started.limits.find(({ limit }) => limit === wanted.limit)
        if (!own) continue
        const [mine, others] = [own.priority ?? 0, wanted.priority ?? 0]
        const isFirst = others > mine || (others === mine && wanted.key === own.key && waiter.asked < started.asked)
        if (isFirst && model.hasRoom(waiter, now, started) && !model.hasRoom(waiter, now))
          expect.fail(`${JSON.stringify([waiter, started])}, seed ${SEED}`)
      }
    }
  }

  #hasRivals = (started: Waiter): boolean =>
    started.limits.length > 1 &&
    [...this.model.waiting.values()].some(
      ({ limits }) =>
        limits.length > 1 && limits.some(({ limit }) => started.limits.some((own) => own.limit === limit)),
    )

  async end(id: string): Promise<void> {
    if (!id) return
    this.model.holding.delete(id)
    await this.#leave(id)
  }
  async leave(id: string): Promise<void> {
    if (!id) return
    this.model.waiting.delete(id)
    this.model.due.delete(id)
    await this.#leave(id)
  }
  #leave = (id: string): Promise<void> =>
    this.#change(async (client) => {
      await lockSlots(client)
      await releaseTickets(client, [id])
      await wakeNextOfLimits(client, new Date(this.now), { most: 1 })
    })
  async #change(work: (client: Client) => Promise<unknown>): Promise<void> {
    await transaction(work)
    await this.follow()
  }

  /** Each object that is woken asks. */
  async follow(): Promise<void> {
    for (let rounds = 0; ; rounds++) {
      expect(rounds, `they wake each other, seed ${SEED}`).toBeLessThan(200)
      const { rows } = await world.pool.query<{ ids: string[] }>('delete from wake returning object_ids as ids')
      const ids = new Set(rows.flatMap(({ ids: some }) => some))
      const asking = [...ids].flatMap((id) => this.model.waiting.get(id) ?? [])
      if (asking.length === 0) return
      for (const one of asking) if (this.model.waiting.has(one.id)) await this.ask([one], true)
    }
  }
  /** Clocks ring one after the other, each at its time. */
  async advance(ms: number): Promise<void> {
    const until = this.now + ms
    for (;;) {
      const next = [...this.model.due].toSorted(([, a], [, b]) => a - b).find(([, at]) => at <= until)
      if (!next) break
      this.now = Math.max(this.now, next[1])
      await this.ask([this.model.waiting.get(next[0]) as Waiter], true)
    }
    this.now = until
  }

  /** Nobody waits for what is free, and no more hold a limit than it allows. */
  check(): void {
    const { model, now } = this
    for (const waiter of model.waiting.values())
      if (model.hasRoom(waiter, now)) expect.fail(`${JSON.stringify(waiter)} waits for nothing, seed ${SEED}`)
  }
}

const clear = () => world.pool.query('truncate flow_limit, wake cascade')

test('no limit is left free, and nobody comes before a higher priority or its elder, whatever happens', async () => {
  await clear()
  const random = seeded()
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const play = new Play()
  const { model } = play
  await play.addLimit('few', { max: 3, maxPerKey: 2, weights: [{ key: 'a', weight: 2 }] })
  await play.addLimit('rated', { rate: { count: 2, perMs: 1_000 } })
  await play.addLimit('both', { max: 2, rate: { count: 3, perMs: 2_000 } })
  const priority = () => pick([0, 0, 0, 5, -3])
  const requests = (): readonly LimitRequest[] => {
    const names = pick([
      ['few'],
      ['few'],
      ['rated'],
      ['both'],
      ['few', 'rated'],
      ['both', 'few'],
      ['few', 'both', 'rated'],
    ])
    return names.map((limit) => ({ limit, key: pick(KEYS), priority: priority() }))
  }
  const idle = () => objects.filter((id) => !model.waiting.has(id) && !model.holding.has(id))
  const steps: readonly (() => Promise<void>)[] = [
    () =>
      play.ask(
        idle()
          .slice(0, pick([1, 1, 2, 4]))
          .map((id) => ({ id, limits: requests() })),
      ),
    () => play.end(pick([...model.holding.keys(), ''])),
    () => play.end(pick([...model.holding.keys(), ''])),
    () => play.leave(pick([...model.waiting.keys(), ''])),
    () => play.advance(pick([1, 100, 700])),
    () =>
      random() < 0.2
        ? play.edit('few', { max: pick([1, 3, 5]), maxPerKey: pick([1, 2]), weights: [{ key: pick(KEYS), weight: 3 }] })
        : Promise.resolve(),
    () =>
      random() < 0.2
        ? play.override(pick(['few', 'rated']), pick(KEYS), { maxPerKey: pick([0, 1, 4]) }, pick([1_000, 3_000]))
        : Promise.resolve(),
    () =>
      random() < 0.2
        ? play.override('rated', pick(KEYS), { rate: { count: pick([1, 4]), perMs: 1_500 } }, pick([1_000, 3_000]))
        : Promise.resolve(),
    () => {
      const name = pick([...model.limits.keys()])
      return random() < 0.15 || model.limits.get(name)?.isPaused
        ? play.pause(name, !model.limits.get(name)?.isPaused)
        : Promise.resolve()
    },
  ]
  for (let n = 0; n < soak(400, 10_000); n++) {
    await pick(steps)()
    play.check()
  }
  for (const [name, { isPaused }] of model.limits) if (isPaused) await play.pause(name, false)
  while (model.waiting.size + model.holding.size > 0) {
    const [first] = model.holding.keys()
    if (first) await play.end(first)
    else await play.advance(1_000)
    play.check()
  }
  expect(model.holding.size).toBe(0)
})

async function shares(
  weights: Readonly<Record<string, number>>,
  max: number,
): Promise<Readonly<Record<string, number>>> {
  await clear()
  const play = new Play()
  await play.addLimit('few', { max, weights: Object.entries(weights).map(([key, weight]) => ({ key, weight })) })
  // All of one key have come before all of the next one.
  const keys = Object.keys(weights)
  const PART = objects.length / keys.length
  const waiters = keys.flatMap((key, k) =>
    objects.slice(k * PART, (k + 1) * PART).map((id) => ({ id, limits: [{ limit: 'few', key }] })),
  )
  await play.pause('few', true)
  for (const one of waiters) await play.ask([one])
  await play.pause('few', false)
  while (play.order.length < 50) await play.end([...play.model.holding.keys()][0] ?? '')
  return Object.fromEntries(keys.map((key) => [key, play.order.slice(0, 50).filter((one) => one === key).length]))
}

test.each([1, 6])('keys of the same weight have the same part of a limit of %i', async (max) => {
  const had = await shares({ a: 1, b: 1, c: 1, d: 1 }, max)
  expect(jain(Object.values(had)), JSON.stringify(had)).toBeGreaterThanOrEqual(0.99)
})

test.each([1, 7])('keys have parts of a limit of %i as their weights say', async (max) => {
  const weights = { a: 1, b: 3, c: 1 }
  const had = await shares(weights, max)
  expect(had.b).toBe(30)
  expect(jain([had.a ?? 0, (had.b ?? 0) / 3, had.c ?? 0]), JSON.stringify(had)).toBeGreaterThanOrEqual(0.99)
})

test('a key whose first one waits for something else takes no more turns than others', async () => {
  await clear()
  const play = new Play()
  await play.addLimit('few', { max: 1 })
  await play.addLimit('other', { max: 1 })
  const few = (key: string) => ({ limit: 'few', key })
  const [holder = '', first = '', ...rest] = objects
  await play.ask([{ id: holder, limits: [{ limit: 'other', key: '' }] }])
  await play.pause('few', true)
  await play.ask([{ id: first, limits: [few('a'), { limit: 'other', key: '' }] }])
  for (const key of ['a', 'b']) for (const id of rest.splice(0, 10)) await play.ask([{ id, limits: [few(key)] }])
  play.order.length = 0
  await play.pause('few', false)
  const isOfFew = (id: string) => id !== holder
  while (play.order.length < 10) await play.end([...play.model.holding.keys()].find(isOfFew) ?? '')
  expect(play.order.filter((key) => key === 'a')).toHaveLength(5)
  // It starts before the others of its key once it may.
  await play.end(holder)
  while (!play.model.holding.has(first)) {
    expect(play.order.length).toBeLessThan(13)
    await play.end([...play.model.holding.keys()].find(isOfFew) ?? '')
  }
})
