import fc from 'fast-check'
import { expect } from 'vitest'
import { WORK_STATE } from '../../../src/core/tree.ts'
import { isClaimable } from '../../../src/engine/agents/claim-one.ts'
import type { TrackedObject } from '../../../src/engine/tracked-object.ts'
import type { HistoryWorld, SeenObject } from './history-world.ts'
import {
  type Answer,
  type Execution,
  type Import,
  type Installation,
  type Item,
  type ItemShape,
  Model,
  type Root,
  type Shape,
  specOf,
} from './job-model.ts'

/** Random histories of trees: after each action the engine has offered, kept and ended exactly what the model says. */

const NAMES = 4
const NESTED = 3

/** How an installation imports. */
interface Wants {
  /** It can do without, and it imports besides what nothing exports. */
  readonly optional: boolean
  /** Its schema accepts 1 alone. */
  readonly strict: boolean
}
const wants: fc.Arbitrary<Wants> = fc.record({
  optional: fc.constantFrom(false, false, false, true),
  strict: fc.constantFrom(false, false, false, true),
})

export interface Plan {
  readonly items: readonly {
    readonly there: boolean
    readonly after: number
    readonly size: number
    readonly uses: boolean
    readonly reads: boolean
    /** Entries of its list; null or left out: it has none. */
    readonly list?: number | null
  }[]
  readonly nested: readonly {
    readonly there: boolean
    readonly links: number
    readonly plan: Plan | null
    readonly literal: number
    readonly wants: Wants
  }[]
  /** The spec has importers before what they import from. */
  readonly reversed: boolean
}
const itemPlan = fc.record({
  there: fc.constantFrom(true, true, true, false),
  after: fc.nat(15),
  size: fc.constantFrom(1, 1, 2),
  uses: fc.boolean(),
  reads: fc.boolean(),
  list: fc.constantFrom(null, null, null, 0, 1, 2),
})
const planOf = (depth: number): fc.Arbitrary<Plan> =>
  fc.record({
    items: fc.array(itemPlan, { maxLength: depth === 0 ? NAMES : 2 }),
    nested:
      depth === 2
        ? fc.constant([])
        : fc.array(
            fc.record({
              there: fc.constantFrom(true, true, false),
              links: fc.nat(7),
              plan: planOf(depth + 1),
              literal: fc.constantFrom(1, 1, 2),
              wants,
            }),
            { maxLength: depth === 0 ? NESTED : 1 },
          ),
    reversed: fc.boolean(),
  })

export interface RootPlan {
  readonly plan: Plan
  readonly wants: Wants
  /** One of the two names that it may export by, and that it may import from the root before it; null: nothing. */
  readonly out: 'r' | 's'
  readonly from: 'r' | 's' | null
}
const rootPlan: fc.Arbitrary<RootPlan> = fc.record({
  plan: planOf(0),
  wants,
  out: fc.constantFrom('r', 'r', 'r', 's'),
  from: fc.constantFrom('r', 'r', 'r', 'r', 's', null),
})

const importing = (names: readonly string[], { optional, strict }: Wants): readonly Import[] =>
  names.map((name) => ({ name, optional, only: strict ? 1 : null }))

/** `outer`: names in the scope around it. */
function shapeOf(
  { items, nested, reversed }: Plan,
  imports: readonly Import[],
  outer: readonly string[],
  own: string | null,
  gated: boolean,
  prefix = 'v',
): Shape {
  const there = items.flatMap((plan, i) => (plan.there ? [{ ...plan, i }] : []))
  // An item whose expression has no value fails, and which others are triggered before that depends on their order.
  const usable = imports.filter(({ optional }) => !optional || there.length === 1)
  // Exports are of the first item, and one that is read from is not made of a list.
  const isList = (i: number) => !(gated && i === 1) && i !== there[0]?.i && typeof items[i]?.list === 'number'
  const shapes = there.map(({ i, after, size, uses, reads, list }): ItemShape => {
    const before = there.filter((other) => other.i < i && after & (1 << other.i)).map((other) => `i${other.i}`)
    const gate = gated && i === 1
    const read = there.find((other) => before.includes(`i${other.i}`) && !isList(other.i))
    return {
      name: `i${i}`,
      after: before,
      size,
      uses: uses && !gate ? (usable[0]?.name ?? null) : null,
      reads: reads && !gate && read ? `i${read.i}` : null,
      gate,
      list: isList(i) ? { size: list ?? 0, uses: uses ? (usable[0]?.name ?? null) : null } : null,
    }
  })
  const present = nested.flatMap((plan, n) => (plan.there && plan.plan ? [{ ...plan, n }] : []))
  const entries = present.map(({ n, links, plan, literal, wants: own }) => {
    const linked = present.filter((other) => (reversed ? other.n > n : other.n < n) && links & (1 << other.n))
    const names = [...linked.map((other) => `${prefix}${other.n}`), ...(links & 1 ? outer.slice(0, 1) : [])]
    const all = importing([...names, ...(own.optional ? ['nothing'] : [])], own)
    const shape = shapeOf(plan as Plan, all, names, null, gated, `${prefix}${n}`)
    const source = shape.items[0]?.name ?? literal
    return [`n${n}`, { ...shape, exports: { [`${prefix}${n}`]: links & 4 ? literal : source } }] as const
  })
  return {
    imports,
    exports: own ? { [own]: shapes[0]?.name ?? 1 } : {},
    items: shapes,
    nested: Object.fromEntries(entries),
  }
}

const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const which = fc.nat(15)
const root = fc.nat(2)
const answer: fc.Arbitrary<Answer> = fc.constantFrom('done', 'done', 'done', 'failed', 'failed', 'stopped', 'returned')
const act = fc.oneof(
  often(3, fc.record({ do: fc.constant('claim' as const), which, leaseMs: fc.constantFrom(29_999, 599_999) })),
  often(
    6,
    fc.record({
      do: fc.constant('report' as const),
      root,
      which,
      answers: fc.tuple(answer, answer, answer, answer),
      v: fc.constantFrom(1, 1, 2),
    }),
  ),
  often(
    3,
    fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom<number>(1_000, 30_000, 300_000, 600_000) }),
  ),
  often(8, fc.record({ do: fc.constant('work' as const), fails: fc.option(fc.nat(12)), v: fc.constantFrom(1, 1, 2) })),
  often(
    6,
    fc.record({
      do: fc.constant('reconcile' as const),
      root,
      mode: fc.constantFrom('IF_CHANGED' as const, 'IF_CHANGED' as const, 'STANDARD' as const, 'FORCE' as const),
    }),
  ),
  often(4, fc.record({ do: fc.constant('update' as const), root, plan: fc.nat(3), reconcile: fc.boolean() })),
  often(1, fc.record({ do: fc.constant('rollback' as const), root, back: fc.nat(2) })),
  often(2, fc.record({ do: fc.constant('create' as const), which, plan: fc.nat(3) })),
  often(3, fc.record({ do: fc.constant('data' as const), value: fc.constantFrom(1, 1, 2, null) })),
  often(2, fc.record({ do: fc.constant('cancel' as const), root })),
  often(
    3,
    fc.record({ do: fc.constant('remove' as const), root, force: fc.boolean(), withoutUninstall: fc.boolean() }),
  ),
  often(
    3,
    fc.record({
      do: fc.constant('ignore' as const),
      root,
      which,
      ignored: fc.constantFrom(true, true, false),
      reconcile: fc.boolean(),
    }),
  ),
  often(1, fc.record({ do: fc.constant('tie' as const), which })),
)
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

export interface History {
  /** Each root's specs. */
  readonly plans: readonly (readonly RootPlan[])[]
  /** True: each root imports from the one before it. */
  readonly linked: readonly boolean[]
  /** True: the second item of each installation of the root is a gate. */
  readonly gated: readonly boolean[]
  readonly budget: number
  readonly acts: readonly Act[]
}
export const history: fc.Arbitrary<History> = fc.record({
  plans: fc.array(fc.array(rootPlan, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  linked: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  gated: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  budget: fc.constantFrom(2_000, 2_000, 7, 1),
  acts: fc.array(act, { minLength: 3, maxLength: 25 }),
})

/**
 * The same without what would make the end depend on the time of an act: who imports from whom stays as it is, and no FORCE is
 * pending when a deletion is requested.
 */
export const steady = (one: History): History => ({
  ...one,
  plans: one.plans.map((plans) => {
    const { out, from, wants: first } = plans[0] as RootPlan
    return plans.map((plan) => ({ ...plan, out, from, wants: first }))
  }),
  acts: one.acts.map((own) => (own.do === 'reconcile' && own.mode === 'FORCE' ? { ...own, mode: 'STANDARD' } : own)),
})

interface Found {
  readonly item: Item
  readonly execution: Execution
  readonly root: Root
  readonly path: string
}
const itemsOf = (execution: Execution, root: Root, path: string): readonly Found[] =>
  [...execution.items.values()].map((item) => ({ item, execution, root, path: `${path}/${item.shape.name}` }))

export class Run {
  readonly model = new Model()
  readonly #world: HistoryWorld
  readonly #history: History
  /** By path, as of the last comparison. */
  #objects: ReadonlyMap<string, SeenObject> = new Map()
  readonly #ids = new Map<string, string>()
  /** The specs of each root since its creation. */
  readonly #generations = new Map<string, Shape[]>()

  constructor(history: History, world: HistoryWorld) {
    this.#history = history
    this.#world = world
  }

  #shape(n: number, plan: number): Shape {
    const plans = this.#history.plans[n] as readonly RootPlan[]
    const { plan: own, wants, out, from } = plans[plan % plans.length] as RootPlan
    const names = [...(n > 0 && this.#history.linked[n] && from ? [`${from}${n - 1}`] : []), ...(n !== 1 ? ['d'] : [])]
    return shapeOf(own, importing(names, wants), names, `${out}${n}`, this.#history.gated[n] ?? false)
  }
  async #create(n: number, plan: number): Promise<void> {
    const [name, shape] = [`t${n}`, this.#shape(n, plan)]
    this.#ids.set(name, await this.#world.create(name, specOf(shape)))
    this.#generations.set(name, [shape])
    this.model.create(name, shape)
  }
  async #rollback(found: Root, back: number): Promise<void> {
    const specs = this.#generations.get(found.name) as Shape[]
    const generation = specs.length - 1 - back
    const shape = specs[generation - 1]
    if (!shape) return
    if (this.model.update(found, shape, true)) specs.push(shape)
    await this.#world.rollback(this.#ids.get(found.name) as string, specOf(shape), generation)
  }
  async #update(found: Root, shape: Shape, reconcile: boolean): Promise<void> {
    if (this.model.update(found, shape, reconcile)) this.#generations.get(found.name)?.push(shape)
    await this.#world.update(this.#ids.get(found.name) as string, specOf(shape), reconcile)
  }

  async play(): Promise<void> {
    for (const n of this.#history.plans.keys()) await this.#create(n, 0)
    await this.#compare('creation')
    for (const [i, one] of this.#history.acts.entries()) {
      await this.#do(one)
      await this.#compare(`act ${i}: ${JSON.stringify(one)}`)
    }
    for (const [n, root] of [...this.model.roots.values()].entries())
      for (const { one, path } of this.#installationsOf(root)) {
        if (!one.ignored) continue
        this.model.ignore(root, one, false, false)
        await this.#world.ignore(this.#at(path).id, false, false)
        await this.#compare(`the end of what is ignored in root ${n}`)
      }
    await this.#do({ do: 'data', value: 1 })
    await this.#compare('data')
    for (let n = 0; n < 4; n++) await this.#do({ do: 'work', fails: null, v: 1 })
    for (const root of this.model.roots.values())
      expect(root.open && root.step !== 'waiting', `${root.name} does not end`).toBe(false)
  }

  /**
   * Acts come between two transactions of the engine, so the model does not know what each of them meets. Once all is calm
   * and everybody has worked well, each root is as the model says.
   */
  async playBetween(turns: readonly number[]): Promise<void> {
    for (const n of this.#history.plans.keys()) await this.#create(n, 0)
    for (const [i, one] of this.#history.acts.entries()) {
      await this.#look()
      if (!(await this.#agents(one))) await this.#command(one)
      this.model.settle()
      await this.#world.settle(turns[i % turns.length])
    }
    await this.#do({ do: 'data', value: 1 })
    for (let round = 0; round < 3; round++) {
      await this.#finish()
      for (const name of this.#ids.keys()) await this.#repeat(name)
    }
    await this.#finish()
    expect(this.#atEnd(this.#seen())).toEqual(this.#atEnd(this.#expected()))
  }
  /** Here and in the model, in which a deletion may have ended otherwise so far. */
  async #repeat(name: string): Promise<void> {
    const [root, found] = [this.model.roots.get(name), this.#objects.get(name)]
    if (root) {
      this.model.ignore(root, root, false, false)
      this.model.reconcile(root, 'STANDARD')
    }
    if (!found) return
    await this.#world.ignore(found.id, false, false)
    await this.#world.reconcile(found.id, 'STANDARD')
  }
  async #look(): Promise<void> {
    this.#objects = new Map((await this.#world.objects()).map((one) => [one.path, one]))
  }
  /** An act of a user on a root that is there. */
  async #command(one: Act): Promise<void> {
    const names = 'root' in one ? this.#objects.has(`t${one.root % this.#history.plans.length}`) : one.do === 'data'
    if (names) await this.#do(one.do === 'ignore' ? { ...one, which: 0 } : one)
  }
  /** An act of deployers, which the model does not see. True: it is one. */
  async #agents(one: Act): Promise<boolean> {
    const now = this.#world.clock.now()
    const items = [...this.#objects.values()].filter(({ kind }) => kind === 'DEPLOY_ITEM')
    const offered = items.filter((item) => /^(offered|lost)/.test(stateOf(item, now)))
    const claimed = items.filter((item) => /^(claimed|asked)/.test(stateOf(item, now)))
    const send = async (item: SeenObject, answer: Answer) =>
      await this.#world.report(this.#at(item.path.replace(/\/.*/, '')).id, [{ itemId: item.id, answer, v: 1 }])
    if (one.do === 'claim') await this.#world.claimItems(offered.slice(0, one.which), one.leaseMs)
    else if (one.do === 'report' && claimed[0]) await send(claimed[0], one.answers[0])
    else if (one.do === 'work') {
      await this.#world.claimItems(offered, 60_000)
      for (const item of [...offered, ...claimed]) await send(item, 'done')
    } else if (one.do === 'pass') await this.#world.pass(one.ms)
    return ['claim', 'report', 'work', 'pass', 'create', 'tie'].includes(one.do)
  }
  /** All deployers work well, here and in the model. */
  async #finish(): Promise<void> {
    const { model } = this
    for (let isOpen = true; isOpen; ) {
      await this.#world.settle()
      await this.#look()
      model.settle()
      await this.#agents({ do: 'work', fails: null, v: 1 })
      await this.#agents({ do: 'pass', ms: 1_000 })
      model.now += 1_000
      const items = this.#items().filter(({ item }) => item.open)
      for (const { item } of items) {
        if (item.isOffered(model.now)) item.claim(model.now, 60_000)
        if (item.claimed) item.report('done', 1, model.now)
      }
      isOpen = items.length > 0 || [...this.#objects.values()].some(isOpenItem)
    }
  }
  /** Below a root that has not succeeded is what earlier jobs have left. */
  #atEnd(states: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const isJudged = (path: string) =>
      !path.includes('/') || this.model.roots.get(path.replace(/\/.*/, ''))?.phase === 'SUCCEEDED'
    return Object.fromEntries(
      Object.entries(states).flatMap(([path, state]) =>
        isJudged(path) ? [[path, state.replace(/, begun.*/, '')]] : [],
      ),
    )
  }

  async #do(one: Act): Promise<void> {
    const { model } = this
    const world = this.#world
    const named = 'root' in one ? model.roots.get(`t${one.root % this.#history.plans.length}`) : undefined
    if ('root' in one && !named) return
    const found = named as Root
    const id = this.#ids.get(found?.name) ?? ''
    switch (one.do) {
      case 'claim':
        return await this.#claim(
          this.#items().filter(({ item }, i) => item.isOffered(model.now) && one.which & (1 << (i % 4))),
          one.leaseMs,
        )
      case 'report': {
        const claimed = this.#items().filter(({ item, root }) => root === found && item.open && item.claimed)
        const chosen = claimed.filter((_, i) => one.which & (1 << (i % 4)))
        return await this.#report(
          id,
          chosen.map((of, i) => ({ ...of, answer: one.answers[i % 4] as Answer, v: one.v })),
        )
      }
      case 'pass':
        return await this.#pass(model.now + one.ms)
      case 'work':
        return await this.#work(one.fails, one.v)
      case 'reconcile':
        model.reconcile(found, one.mode)
        return await world.reconcile(id, one.mode)
      case 'update':
      case 'rollback': {
        // No orphan has a dependency that no spec could have.
        if (this.#items().some(({ item, root }) => root === found && item.tied)) return
        if (one.do === 'update')
          return await this.#update(found, this.#shape(one.root % this.#history.plans.length, one.plan), one.reconcile)
        return await this.#rollback(found, one.back)
      }
      case 'create': {
        const free = [...this.#history.plans.keys()].filter((n) => !model.roots.has(`t${n}`))
        const n = free[one.which % Math.max(1, free.length)]
        return n === undefined ? undefined : await this.#create(n, one.plan)
      }
      case 'data':
        if (one.value === null) {
          model.deleteData('d')
          return world.deleteData('d')
        }
        model.setData('d', one.value)
        return world.setData('d', one.value)
      case 'cancel':
        model.cancel(found)
        return await world.cancel(id)
      case 'remove':
        model.remove(found, one)
        return await world.remove(id, one)
      case 'ignore': {
        const all = this.#installationsOf(found)
        const { one: chosen, path } = all[one.which % all.length] as (typeof all)[number]
        // Trees that import from it see its remembered job, or not yet: that depends on which is decided first.
        const isRead = [...model.roots.values()].some(({ shape }) =>
          shape.imports.some(({ name }) => name in found.shape.exports || model.data.get(name)?.by === found),
        )
        if (chosen === found && isRead) return
        const chosenId = this.#at(path).id
        model.ignore(found, chosen, one.ignored, one.reconcile)
        return await world.ignore(chosenId, one.ignored, one.reconcile)
      }
      case 'tie':
        return this.#tie(one.which)
      default:
        return one satisfies never
    }
  }

  /** A root first, then those below it. */
  #installationsOf(root: Root): readonly { readonly one: Installation; readonly path: string }[] {
    const below = (one: Installation, path: string): readonly { one: Installation; path: string }[] => [
      { one, path },
      ...[...one.nested.values()].flatMap((nested) => below(nested, `${path}/${nested.name}`)),
    ]
    return below(root, root.name)
  }
  #items(): readonly Found[] {
    const below = (one: Installation, root: Root, path: string): readonly Found[] => [
      ...(one.execution ? itemsOf(one.execution, root, `${path}/deploy-items`) : []),
      ...[...one.nested.values()].flatMap((nested) => below(nested, root, `${path}/${nested.name}`)),
    ]
    return [...this.model.roots.values()].flatMap((root) => below(root, root, root.name))
  }

  async #claim(items: readonly Found[], leaseMs: number): Promise<void> {
    if (items.length === 0) return
    for (const { item } of items) item.claim(this.model.now, leaseMs)
    await this.#world.claimItems(
      items.map(({ path }) => this.#at(path)),
      leaseMs,
    )
  }
  async #report(
    rootId: string,
    reports: readonly { item: Item; root: Root; path: string; answer: Answer; v: number }[],
  ): Promise<void> {
    if (reports.length === 0) return
    // A gate has one answer.
    const gates = reports.filter(({ item, answer }) => item.shape.gate && answer !== 'done')
    if (gates.length > 0)
      return await this.#report(
        rootId,
        reports.map((one) => (gates.includes(one) ? { ...one, answer: 'done' } : one)),
      )
    // A failure keeps orphans that have not begun: of ends in one call, the engine may count either first.
    if (reports.length > 1 && reports.some(({ item, root }) => item.action === 'DELETE' && !root.deleting)) {
      for (const one of reports) {
        await this.#report(rootId, [one])
        await this.#compare('one of several ends')
      }
      return
    }
    for (const { item, answer, v } of reports) item.report(answer, v, this.model.now)
    await this.#world.report(
      rootId,
      reports.map(({ path, answer, v }) => ({ itemId: this.#at(path).id, answer, v })),
    )
  }
  /** The engine is there at each time at which something is due. */
  async #pass(until: number): Promise<void> {
    const { model } = this
    while (model.now < until) {
      const next = Math.min(until, model.nextTime)
      await this.#world.pass(next - model.now)
      model.now = next
      await this.#compare(`at ${next} ms`)
    }
  }
  /** Works until nothing is left to do. One in thirteen fails, if any. */
  async #work(fails: number | null, v: number): Promise<void> {
    for (;;) {
      await this.#compare('work')
      const { model } = this
      await this.#claim(
        this.#items().filter(({ item }) => item.isOffered(model.now)),
        60_000,
      )
      const open = this.#items().filter(({ item }) => item.open)
      const claimed = open.filter(({ item }) => item.claimed)
      const root = claimed[0]?.root
      if (root)
        await this.#report(
          this.#ids.get(root.name) as string,
          claimed
            .filter((one) => one.root === root)
            .map((one, i) => ({
              ...one,
              v,
              answer: fails === null || (one.path.length + i) % 13 !== fails ? 'done' : 'failed',
            })),
        )
      else if (open.length > 0) await this.#pass(Math.min(...open.map(({ item }) => item.restsUntil)))
      else return
    }
  }
  /** An item that waits waits for itself, too, so that its execution is stuck. */
  #tie(which: number): void {
    const waiting = this.#items().filter(({ item, path, root }) => {
      // The next job may delete it.
      if (root.changed || !this.#world.tie) return false
      const { jobId, finishedJobId, phase } = this.#at(path.slice(0, path.lastIndexOf('/')))
      const own = this.#at(path)
      return (
        phase === 'PROGRESSING' && jobId !== finishedJobId && own.jobId !== jobId && own.waitingFor > 0 && !item.tied
      )
    })
    const chosen = waiting[which % Math.max(1, waiting.length)]
    if (!chosen) return
    const { item, path } = chosen
    item.tied = true
    item.after = [...item.after, item.shape.name]
    this.#world.tie?.(this.#at(path).id)
  }
  /** A later job finds no dependency that no spec has. */
  #untie(): void {
    for (const { item, path, execution } of this.#items()) {
      if (!item.tied || execution.open) continue
      item.tied = false
      item.after = item.after.filter((name) => name !== item.shape.name)
      this.#world.untie?.(this.#at(path).id)
    }
  }

  #at(path: string): SeenObject {
    const found = this.#objects.get(path)
    if (!found) throw new Error(`there is no ${path}`)
    return found
  }

  async #compare(when: string): Promise<void> {
    await this.#world.settle()
    await this.#look()
    this.model.settle()
    expect(this.#seen(), when).toEqual(this.#expected())
    this.#untie()
    await this.#keepApart()
  }
  /** With FORCE a root may begin between two jobs of its exporter, or after both. */
  async #keepApart(): Promise<void> {
    for (const root of this.model.roots.values()) {
      const waits = root.open && root.step === 'waiting' && root.mode === 'FORCE'
      if (!waits || !this.model.exportersOf(root).some(({ by }) => by.open && by.next)) continue
      await this.#do({ do: 'cancel', root: rootOf(root.name) })
      await this.#compare(`the end of the waiting ${root.name}`)
    }
  }
  #seen(): Readonly<Record<string, string>> {
    const now = this.#world.clock.now()
    const all = [...this.#objects.values()]
    return Object.fromEntries(all.map((one) => [one.path, `${stateOf(one, now)}, begun ${one.begun} times`]))
  }
  #expected(): Readonly<Record<string, string>> {
    const found: Record<string, string> = {}
    const note = (path: string, { begun }: { begun: number }, state: string) => {
      found[path] = `${state}, begun ${begun} times`
    }
    const add = (one: Installation, path: string): void => {
      const { execution } = one
      note(path, one, one.open ? (one.phase === 'PENDING_DEPENDENCIES' ? 'waits' : 'runs') : one.phase)
      if (execution) note(`${path}/deploy-items`, execution, execution.open ? 'runs' : execution.phase)
      for (const nested of one.nested.values()) add(nested, `${path}/${nested.name}`)
    }
    for (const root of this.model.roots.values()) add(root, root.name)
    for (const { item, path } of this.#items()) note(path, item, item.stateAt(this.model.now))
    return found
  }
}

const rootOf = (name: string): number => Number(name.slice(1))
const isOpenItem = ({ kind, jobId, finishedJobId }: SeenObject): boolean =>
  kind === 'DEPLOY_ITEM' && jobId !== finishedJobId

function stateOf({ kind, phase, jobId, finishedJobId, work, code }: SeenObject, now: Date): string {
  const isItem = kind === 'DEPLOY_ITEM'
  if (jobId === finishedJobId) return isItem && code?.endsWith('_TIMEOUT') ? `${phase} by ${code}` : phase
  if (!isItem || !work) return phase === 'PENDING_DEPENDENCIES' ? 'waits' : 'runs'
  const isOffered = isClaimable({ work } as TrackedObject, { now, isPaused: false })
  const held = work.abortRequestedAt ? 'asked to stop' : isOffered ? 'lost' : 'claimed'
  const isClaimed = work.state === WORK_STATE.CLAIMED
  return `${isClaimed ? held : isOffered ? 'offered' : 'resting'} to ${work.action}`
}
