import { backoffMs } from '../../../src/core/backoff.ts'
import type { ReconcileMode } from '../../../src/core/vocabulary.ts'
import { strongerMode } from '../../../src/families/deployments/rules/details.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'

/**
 * The rules of jobs, stated once more and as simply as possible: without counters, events or order. After each action every
 * object reads the state of the others, again and again, until none has anything to do.
 */

export interface ItemShape {
  readonly name: string
  readonly after: readonly string[]
  readonly size: number
  /** An import of its installation in its config. */
  readonly uses: string | null
  /** An item before it whose export is in its config. */
  readonly reads: string | null
  /** It is a gate that waits for a signal. */
  readonly gate: boolean
  /** It has a list of so many entries, whose values are an import. */
  readonly list: { readonly size: number; readonly uses: string | null } | null
  /** In an execution: it is made of this entry. */
  readonly each?: unknown
}
const keysOf = ({ size }: NonNullable<ItemShape['list']>): readonly string[] =>
  Array.from({ length: size }, (_, n) => `k${n}`)
/** The items that lists make; null: an import has no value. */
function made(
  items: readonly ItemShape[],
  imports: Readonly<Record<string, unknown>> | null,
): readonly ItemShape[] | null {
  const names = (name: string): readonly string[] => {
    const list = items.find((other) => other.name === name)?.list
    return list ? keysOf(list).map((key) => `${name}-${key}`) : [name]
  }
  if (items.some(({ list }) => list && list.size > 0 && list.uses && imports?.[list.uses] === undefined)) return null
  return items.flatMap((item) => {
    const after = item.after.flatMap(names)
    const { list } = item
    if (!list) return [{ ...item, after }]
    return keysOf(list).map((key) => ({
      ...{ ...item, after, list: null, name: `${item.name}-${key}` },
      each: { v: list.uses ? imports?.[list.uses] : key },
    }))
  })
}
export interface Import {
  readonly name: string
  readonly optional: boolean
  /** The only value that its schema accepts; null: it has no schema. */
  readonly only: number | null
}
export interface Shape {
  readonly imports: readonly Import[]
  /** The export of an item, or a number. */
  readonly exports: Readonly<Record<string, string | number>>
  readonly items: readonly ItemShape[]
  readonly nested: Readonly<Record<string, Shape>>
}

export const specOf = ({ imports, exports, items, nested }: Shape): SpecInput => ({
  imports: imports.map(({ name, optional, only }) => ({
    name,
    required: !optional,
    ...(only !== null && { schema: { enum: [only] } }),
  })),
  exports: Object.entries(exports).map(([name, of]) => ({
    name,
    value: typeof of === 'string' ? `\${deployItems.${of}.exports.v}` : of,
  })),
  deployItems: items.map(({ name, after, size, uses, reads, gate, list }) => ({
    name,
    dependsOn: after,
    ...(list && {
      forEach: Object.fromEntries(
        keysOf(list).map((key) => [key, { v: list.uses ? `\${imports.${list.uses}}` : key }]),
      ),
    }),
    ...(gate
      ? { type: 'gate', config: { signal: 'go', message: String(size) }, timeouts: { pickup: { ms: PICKUP } } }
      : { type: 'mock', config: configOf({ size, uses, reads, list }) }),
  })),
  installations: Object.entries(nested).map(([name, shape]) => ({ name, spec: specOf(shape) })),
})
const configOf = ({ size, uses, reads, list }: Pick<ItemShape, 'size' | 'uses' | 'reads' | 'list'>) => ({
  size,
  ...(list ? { each: '${each.value}' } : {}),
  ...(uses ? { uses: `\${imports.${uses}}` } : {}),
  ...(reads ? { reads: `\${deployItems.${reads}.exports.v}` } : {}),
})

type End = 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'DELETE_FAILED' | 'GONE'
type Values = Readonly<Record<string, unknown>>
interface Gathered {
  readonly state: 'ready' | 'waiting' | 'never'
  readonly values: Values | null
}

/** The state that all three kinds share. */
class Part {
  phase: End | 'PENDING_DEPENDENCIES' = 'PENDING'
  job = 0
  open = false
  deleting = false
  /** How often a job had something to do here, besides deleting it. */
  begun = 0
  isIn = (job: number): boolean => this.job === job
  hasFailed = (job: number): boolean => this.isIn(job) && !this.open && this.phase !== 'SUCCEEDED'
  hasSucceeded = (job: number): boolean => this.isIn(job) && !this.open && this.phase === 'SUCCEEDED'
  start(job: number): void {
    this.job = job
    this.open = true
  }
  end(phase: End): true {
    this.phase = phase
    this.open = false
    return true
  }
}

/** Milliseconds. */
const PICKUP = 300_000
const PROGRESSING = 600_000
const ABORTING = 300_000

/** A deployer has done it, could not, has stopped, or returns the work. */
export type Answer = 'done' | 'failed' | 'stopped' | 'returned'

/** Times are milliseconds since the beginning. */
export class Item extends Part {
  shape: ItemShape
  after: readonly string[]
  changed = true
  action: 'RECONCILE' | 'DELETE' = 'RECONCILE'
  claimed = false
  /** Claims in this job. */
  claims = 0
  /** The end of the last lease, unless its deployer has answered. */
  leaseUntil = 0
  restsUntil = 0
  /** The end of the one clock that runs. */
  due = 0
  /** Why its deployer must stop. */
  stop: 'ABORTED' | 'PROGRESSING_TIMEOUT' | null = null
  /** The clock that has ended it. */
  timeout: string | null = null
  handed: string | null = null
  /** The config with which the gate was last opened. */
  opened: string | null = null
  config = ''
  v: number | null = null
  tied = false

  constructor(shape: ItemShape) {
    super()
    this.shape = shape
    this.after = shape.after
  }
  isOffered = (now: number): boolean =>
    this.open && !this.stop && (this.claimed ? this.leaseUntil : this.restsUntil) <= now
  stateAt(now: number): string {
    if (!this.open) return `${this.phase}${this.timeout ? ` by ${this.timeout}` : ''}`
    const held = this.stop ? 'asked to stop' : this.isOffered(now) ? 'lost' : 'claimed'
    return `${this.claimed ? held : this.isOffered(now) ? 'offered' : 'resting'} to ${this.action}`
  }

  offer(job: number, action: Item['action'], config: string, now: number): true {
    this.start(job)
    if (action === 'RECONCILE') this.begun++
    const restsUntil = Math.max(now, this.leaseUntil)
    Object.assign(this, { action, config, restsUntil, claimed: false, claims: 0, stop: null, timeout: null })
    this.due = restsUntil + PICKUP
    // As if an agent had it that never answers by itself.
    if (this.shape.gate) Object.assign(this, { claimed: true, leaseUntil: Number.POSITIVE_INFINITY, due: now + PICKUP })
    return true
  }
  claim(now: number, leaseMs: number): void {
    if (this.claims++ === 0) this.due = now + PROGRESSING
    this.claimed = true
    this.leaseUntil = now + leaseMs
    this.handed = this.config
  }
  report(answer: Answer, v: number, now: number): void {
    this.leaseUntil = 0
    if (this.shape.gate) this.opened = this.config
    if (answer === 'done') {
      this.end(this.action === 'DELETE' ? 'GONE' : 'SUCCEEDED')
      if (this.action === 'RECONCILE') this.v = v
    } else if (answer === 'returned' && !this.stop) {
      this.claimed = false
      this.restsUntil = now + backoffMs(this.claims, 0.5)
    } else if (this.stop === 'PROGRESSING_TIMEOUT') this.fail(this.stop)
    else if (answer === 'failed') this.fail(null)
    else this.end(this.action === 'DELETE' ? 'DELETE_FAILED' : 'ABORTED')
  }
  fail(timeout: string | null): true {
    this.timeout = timeout
    return this.end(this.action === 'DELETE' ? 'DELETE_FAILED' : 'FAILED')
  }
  /** A cancel and the clocks. `useless`: nothing would begin behind a gate. */
  watch(now: number, cancelled: boolean, useless: boolean): boolean {
    if (!this.open) return false
    if (this.shape.gate) {
      const ends = cancelled || useless
      this.leaseUntil = ends || this.due <= now ? 0 : this.leaseUntil
      return ends ? this.end('ABORTED') : this.due <= now && this.end('FAILED')
    }
    const isAtWork = this.claimed && this.leaseUntil > now
    if (cancelled && !isAtWork) return this.end(this.action === 'DELETE' ? 'DELETE_FAILED' : 'ABORTED')
    if (cancelled && !this.stop) return this.askToStop('ABORTED', now)
    if (this.stop && !isAtWork) return this.fail('PROGRESSING_TIMEOUT')
    if (this.due > now) return false
    if (this.stop) return this.fail('ABORTING_TIMEOUT')
    if (this.claims === 0) return this.fail('PICKUP_TIMEOUT')
    return isAtWork ? this.askToStop('PROGRESSING_TIMEOUT', now) : this.fail('PROGRESSING_TIMEOUT')
  }
  askToStop(stop: Item['stop'], now: number): true {
    this.stop = stop
    this.due = now + ABORTING
    return true
  }
}

export class Execution extends Part {
  step: 'orphans' | 'running' | 'deleting' = 'orphans'
  wanted: readonly ItemShape[] = []
  items = new Map<string, Item>()
}

export class Installation extends Part {
  readonly name: string
  shape: Shape
  /** The spec that its job uses. */
  observed: Shape | null = null
  /** The spec was written since a job began to use it. */
  changed = true
  step: 'waiting' | 'orphans' | 'running' | 'initDelete' | 'deleting' = 'waiting'
  after: readonly string[] = []
  imports: Values | null = null
  exports: Values | null = null
  execution: Execution | null = null
  nested = new Map<string, Installation>()
  ignored = false

  constructor(name: string, shape: Shape) {
    super()
    this.name = name
    this.shape = shape
  }
  /** It gets no job, and counts with its phase. */
  get isLeftAlone(): boolean {
    return this.ignored && !this.open && this.phase !== 'PENDING'
  }
  /** A job that runs what has changed has something to do below it. */
  get containsChanged(): boolean {
    return [...this.nested.values()].some((one) => !one.ignored && (one.changed || one.containsChanged))
  }
  get parts(): readonly Part[] {
    return [...this.nested.values(), ...(this.execution ? [this.execution] : [])]
  }
}

export class Root extends Installation {
  /** Roots that a job of it has imported from: until one that does not has succeeded. */
  importsFrom: readonly Root[] = []
  next: ReconcileMode | null = 'STANDARD'
  nextDeletion = false
  mode: ReconcileMode = 'STANDARD'
  forced = false
  withoutUninstall = false
  /** The last word of a requested deletion. */
  nextWithout = false
  cancelled = false

  get isGoing(): boolean {
    return this.nextDeletion || (this.deleting && !(!this.open && this.phase === 'DELETE_FAILED'))
  }
  get isReady(): boolean {
    return (
      this.phase === 'SUCCEEDED' && !this.changed && !this.open && !this.next && !this.nextDeletion && !this.deleting
    )
  }
}

const exports = ({ shape }: Installation, name: string): boolean => name in shape.exports
const isGiven = ({ name, optional }: Import, values: Values): boolean => optional || name in values
const isValid = ({ name, only }: Import, values: Values): boolean =>
  only === null || !(name in values) || values[name] === only
const given = (imports: readonly Import[], values: Values): Values =>
  Object.fromEntries(imports.flatMap(({ name }) => (name in values ? [[name, values[name]]] : [])))

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

export class Model {
  readonly roots = new Map<string, Root>()
  /** With the root that exports it, if one does. */
  readonly data = new Map<string, { readonly value: unknown; readonly by: Root | null }>()
  now = 0
  #jobs = 0

  create(name: string, shape: Shape): void {
    this.roots.set(name, new Root(name, shape))
  }
  /** True: the spec is a new one. */
  update(root: Root, shape: Shape, reconcile: boolean): boolean {
    if (root.deleting || root.nextDeletion) return false
    const isNew = !same(specOf(root.shape), specOf(shape))
    if (isNew) Object.assign(root, { shape, changed: true })
    if (reconcile) this.reconcile(root, 'STANDARD')
    return isNew
  }
  reconcile(root: Root, mode: ReconcileMode): void {
    const hasNotBegun = root.open && root.step === 'waiting' && !root.cancelled
    if (hasNotBegun) root.mode = strongerMode(root.mode, mode)
    else root.next = strongerMode(root.next, mode)
  }
  remove(root: Root, { force, withoutUninstall }: { force: boolean; withoutUninstall: boolean }): void {
    root.forced = force || (root.forced && (root.deleting || root.nextDeletion))
    root.nextDeletion = true
    root.nextWithout = withoutUninstall
  }
  cancel(root: Root): void {
    root.next = null
    if (root.open) root.cancelled = true
  }
  ignore(root: Root, one: Installation, ignored: boolean, reconcile: boolean): void {
    if (one.ignored === ignored) return
    one.ignored = ignored
    if (ignored || one.deleting) return
    if (one !== root && !one.open) one.changed = true
    if (reconcile) this.reconcile(root, 'STANDARD')
  }
  setData(name: string, value: unknown): void {
    if (this.data.get(name)?.value === value) return
    this.data.set(name, { value, by: null })
    this.#scopeChanged([name])
  }
  deleteData(name: string): void {
    if (this.data.delete(name)) this.#scopeChanged([name])
  }

  /** The next time at which something may happen by itself. */
  get nextTime(): number {
    const items = this.#all().flatMap(({ execution }) => [...(execution?.items.values() ?? [])])
    const times = items.flatMap(({ open, due, leaseUntil, restsUntil }) => (open ? [due, leaseUntil, restsUntil] : []))
    return Math.min(...times.filter((time) => time > this.now))
  }

  /** Lets all that can happen by itself happen. */
  settle(): void {
    for (;;) {
      while (this.#advanceAll());
      // Only once nothing else moves, something is known to wait.
      if (!this.#waiting()) return
    }
  }
  #advanceAll(): boolean {
    let moved = false
    for (const root of this.roots.values()) while (this.#advanceRoot(root)) moved = true
    return moved
  }
  #waiting(): boolean {
    const found = this.#all().filter(
      (one) => one.open && one.step === 'waiting' && one.phase !== 'PENDING_DEPENDENCIES',
    )
    for (const one of found) one.phase = 'PENDING_DEPENDENCIES'
    return found.length > 0
  }
  #all(): readonly Installation[] {
    const below = (one: Installation): readonly Installation[] => [one, ...[...one.nested.values()].flatMap(below)]
    return [...this.roots.values()].flatMap(below)
  }

  #advanceRoot(root: Root): boolean {
    if (!root.open) return this.#startJob(root)
    const wasOpen = this.#advance(root, null, root)
    if (root.phase === 'GONE' && !root.open) {
      this.roots.delete(root.name)
      for (const name of this.#dataOf(root)) this.data.delete(name)
      return true
    }
    return wasOpen
  }
  #startJob(root: Root): boolean {
    if ((!root.nextDeletion && !root.next) || root.isLeftAlone) return false
    const deleting = root.nextDeletion || root.deleting
    root.start(++this.#jobs)
    root.mode = root.next ?? 'STANDARD'
    root.forced = deleting && (root.forced || root.next === 'FORCE')
    if (root.nextDeletion) root.withoutUninstall = root.nextWithout
    Object.assign(root, {
      deleting,
      step: deleting ? 'initDelete' : 'waiting',
      next: null,
      nextDeletion: false,
      cancelled: false,
    })
    return true
  }

  #advance(one: Installation, parent: Installation | null, root: Root): boolean {
    if (!one.open) return false
    const { job, parts } = one
    let moved = false
    for (const nested of one.nested.values()) {
      if (this.#advance(nested, one, root)) moved = true
      if (nested.phase === 'GONE') one.nested.delete(nested.name)
    }
    if (one.execution) {
      if (this.#advanceExecution(one.execution, one, root)) moved = true
      if (one.execution.phase === 'GONE') one.execution = null
    }
    if (moved) return true
    const isOpen = parts.some((part) => part.open)
    const hasFailed = parts.some((part) => part.hasFailed(job))
    switch (one.step) {
      case 'waiting':
        return this.#admit(one, parent, root)
      case 'orphans': {
        if (root.cancelled) return !isOpen && one.end('ABORTED')
        const orphans = [...one.nested.values()].filter(({ deleting }) => deleting)
        if (orphans.length === 0 && !one.execution?.deleting) return this.#writeChildren(one)
        if (hasFailed) return !isOpen && one.end('FAILED')
        for (const orphan of orphans) {
          const isFree = !orphans.some((other) => other.after.includes(orphan.name))
          if (!orphan.isIn(job) && isFree && !orphan.isLeftAlone) moved = startDeletion(orphan, job)
        }
        const { execution } = one
        if (execution?.deleting && !execution.isIn(job)) moved = startDeletion(execution, job)
        return moved
      }
      case 'running':
        if (isOpen) return false
        if (root.cancelled) return one.end('ABORTED')
        return one.end(hasFailed || (one.changed && one === root) ? 'FAILED' : this.#complete(one, root))
      case 'initDelete': {
        if (root.cancelled) return one.end('DELETE_FAILED')
        const verdict = root.forced ? 'yes' : this.#mayGo(one, parent, root)
        if (verdict === 'wait') return false
        if (verdict === 'no') return one.end('DELETE_FAILED')
        one.step = 'deleting'
        for (const part of one.nested.values())
          if (part.isLeftAlone) part.deleting = true
          else startDeletion(part, job)
        if (one.execution) startDeletion(one.execution, job)
        return true
      }
      case 'deleting':
        for (const nested of one.nested.values())
          if (!root.cancelled && !nested.isIn(job) && !nested.isLeftAlone) moved = startDeletion(nested, job)
        if (moved || isOpen) return moved
        if (parts.length === 0) return one.end('GONE')
        return (root.cancelled || hasFailed) && one.end('DELETE_FAILED')
      default:
        return one.step satisfies never
    }
  }

  #mayGo(one: Installation, parent: Installation | null, root: Root): 'yes' | 'no' | 'wait' {
    if (!parent) {
      const names = [...Object.keys(root.shape.exports), ...this.#dataOf(root)]
      const importers = [...this.roots.values()].filter(
        ({ importsFrom, shape }) =>
          importsFrom.includes(root) || shape.imports.some(({ name }) => names.includes(name)),
      )
      if (importers.some(({ isGoing }) => !isGoing)) return 'no'
      return importers.length > 0 ? 'wait' : 'yes'
    }
    // An orphan begins once those that import from it are gone.
    if (parent.step === 'orphans') return 'yes'
    const importers = [...parent.nested.values()].filter(({ after }) => after.includes(one.name))
    if (importers.some((other) => other.hasFailed(one.job) || (other.isLeftAlone && other.phase === 'DELETE_FAILED')))
      return 'no'
    return importers.length > 0 ? 'wait' : 'yes'
  }

  #admit(one: Installation, parent: Installation | null, root: Root): boolean {
    if (root.cancelled) return one.end('ABORTED')
    if (one === root && root.nextDeletion && one.phase === 'PENDING_DEPENDENCIES') return one.end('ABORTED')
    const { imports } = one.shape
    const { state, values } = parent ? this.#gatherNested(one, parent, root) : this.#gatherRoot(root)
    const mayBeKept = root.mode === 'IF_CHANGED' && one.phase === 'SUCCEEDED' && !one.changed
    if (mayBeKept && values && same(values, one.imports) && !one.containsChanged) return one.end('SUCCEEDED')
    if (state === 'never') return one.end('FAILED')
    if (state === 'waiting' || !values) return false
    if (one === root) root.importsFrom = [...root.importsFrom, ...this.exportersOf(root).map(({ by }) => by)]
    one.begun++
    Object.assign(one, { changed: false, observed: one.shape, imports: values, step: 'orphans', phase: 'PENDING' })
    if (!imports.every((own) => isValid(own, values))) return one.end('FAILED')
    for (const nested of one.nested.values()) if (!(nested.name in one.shape.nested)) nested.deleting = true
    if (one.execution && one.shape.items.length === 0) one.execution.deleting = true
    return true
  }
  #gatherRoot(root: Root): Gathered {
    const { imports } = root.shape
    const values = given(imports, Object.fromEntries([...this.data].map(([name, { value }]) => [name, value])))
    if (!imports.every((own) => isGiven(own, values))) return { state: 'waiting', values: null }
    const holds = this.exportersOf(root).some(
      ({ by, name }) => by.isGoing || (exports(by, name) && !by.isReady && root.mode !== 'FORCE'),
    )
    return { state: holds ? 'waiting' : 'ready', values }
  }
  /** A root that exports a name no longer is its exporter as long as the data is there. */
  exportersOf({ shape }: Root): readonly { readonly by: Root; readonly name: string }[] {
    return shape.imports.flatMap(({ name }) => {
      const by = [...this.roots.values()].find((other) => exports(other, name)) ?? this.data.get(name)?.by
      return by ? [{ by, name }] : []
    })
  }
  #dataOf(root: Root): readonly string[] {
    return [...this.data].flatMap(([name, { by }]) => (by === root ? [name] : []))
  }
  #gatherNested(one: Installation, parent: Installation, root: Root): Gathered {
    const exporters = [...parent.nested.values()].filter(({ name }) => one.after.includes(name))
    const scope = Object.assign({}, parent.imports, ...exporters.map(({ exports }) => exports)) as Values
    if (root.mode !== 'FORCE' && exporters.some((other) => other.hasFailed(one.job)))
      return { state: 'never', values: null }
    if (exporters.some((other) => other.open || !other.isIn(one.job))) return { state: 'waiting', values: null }
    if (!one.shape.imports.every((own) => isGiven(own, scope))) return { state: 'never', values: null }
    return { state: 'ready', values: given(one.shape.imports, scope) }
  }

  #writeChildren(one: Installation): true {
    const { job } = one
    const { nested, items } = one.observed as Shape
    const wanted = made(items, one.imports)
    if (!wanted) return one.end('FAILED')
    for (const [name, shape] of Object.entries(nested)) {
      const child = one.nested.get(name) ?? new Installation(name, shape)
      one.nested.set(name, child)
      if (!same(specOf(child.shape), specOf(shape))) child.changed = true
      child.shape = shape
      child.after = Object.keys(nested).filter((other) =>
        shape.imports.some(({ name }) => name in (nested[other] as Shape).exports),
      )
      if (child.isLeftAlone) child.job = job
      else {
        child.step = 'waiting'
        child.start(job)
      }
    }
    if (items.length > 0) {
      one.execution ??= new Execution()
      one.execution.step = 'orphans'
      one.execution.start(job)
      one.execution.begun++
      one.execution.wanted = wanted
      for (const item of one.execution.items.values())
        if (!wanted.some(({ name }) => name === item.shape.name)) item.deleting = true
    }
    one.step = 'running'
    return true
  }
  #complete(one: Installation, root: Root): 'SUCCEEDED' {
    const { exports } = one.shape
    const exported = (of: string | number) => (typeof of === 'number' ? of : one.execution?.items.get(of)?.v)
    one.exports = Object.fromEntries(Object.entries(exports).map(([name, of]) => [name, exported(of)]))
    if (one === root) {
      const before = this.#dataOf(root)
      for (const name of before) this.data.delete(name)
      for (const [name, value] of Object.entries(one.exports)) this.data.set(name, { value, by: root })
      root.importsFrom = root.importsFrom.filter((by) =>
        root.shape.imports.some(({ name }) => name in by.shape.exports),
      )
      this.#scopeChanged([...before, ...Object.keys(exports)])
    }
    return 'SUCCEEDED'
  }
  /** Finished importers get a job of their own. */
  #scopeChanged(names: readonly string[]): void {
    for (const root of this.roots.values()) {
      const reads = root.open && root.step === 'waiting'
      if (!root.shape.imports.some(({ name }) => names.includes(name)) || reads || root.deleting || root.job === 0)
        continue
      root.next = strongerMode(root.next, 'IF_CHANGED')
    }
  }

  #advanceExecution(execution: Execution, owner: Installation, root: Root): boolean {
    if (!execution.open) return false
    const { job, items } = execution
    const isFollowed = root.next !== null || root.nextDeletion
    const hasFailed = () => [...items.values()].some((item) => item.hasFailed(job))
    // An item that fails ends the gates before it, too.
    for (const item of [...items.values(), ...items.values()]) {
      item.watch(this.now, root.cancelled, isFollowed || hasFailed())
      if (item.phase === 'GONE') items.delete(item.shape.name)
    }
    const all = [...items.values()]
    const isOpen = all.some(({ open }) => open)
    const goes = all.filter(({ deleting }) => deleting)
    const failed = execution.step === 'deleting' ? 'DELETE_FAILED' : 'FAILED'
    if (execution.step === 'deleting' && goes.length === 0) return execution.end('GONE')
    if (root.cancelled) return !isOpen && execution.end(failed === 'FAILED' ? 'ABORTED' : failed)
    if (execution.step === 'orphans' && goes.length === 0) return this.#writeItems(execution)
    if (all.some((item) => item.hasFailed(job))) return !isOpen && execution.end(failed)
    if (execution.step === 'running' && all.every((item) => item.hasSucceeded(job))) return execution.end('SUCCEEDED')
    const untriggered = (execution.step === 'running' ? all : goes).filter((item) => !item.isIn(job))
    const ready = untriggered.filter((item) =>
      execution.step === 'running'
        ? item.after.every((name) => items.get(name)?.hasSucceeded(job))
        : !goes.some(({ after }) => after.includes(item.shape.name)),
    )
    // None runs and none ever will.
    if (ready.length === 0) return !isOpen && execution.end(failed)
    for (const item of ready) {
      if (execution.step === 'running') trigger(item, execution, owner, root, this.now)
      else if (item.handed === null || (root.deleting && root.withoutUninstall)) items.delete(item.shape.name)
      else item.offer(job, 'DELETE', item.handed, this.now)
    }
    return true
  }
  #writeItems(execution: Execution): true {
    for (const shape of execution.wanted) {
      const item = execution.items.get(shape.name) ?? new Item(shape)
      execution.items.set(shape.name, item)
      if (!same(item.shape, shape)) item.changed = true
      item.shape = shape
      item.after = shape.after
    }
    execution.step = 'running'
    return true
  }
}

function trigger(item: Item, { job, items }: Execution, owner: Installation, root: Root, now: number): void {
  const { size, uses, reads, gate, each = null } = item.shape
  const config = [size, uses && owner.imports?.[uses], reads && items.get(reads)?.v, each]
  const wanted = JSON.stringify(config)
  const isKept =
    root.mode === 'IF_CHANGED' &&
    item.phase === 'SUCCEEDED' &&
    !item.changed &&
    (gate ? item.opened : item.handed) === wanted
  item.changed = false
  if (isKept) item.job = job
  else item.offer(job, 'RECONCILE', wanted, now)
  // An expression has no value.
  if (config.includes(undefined)) item.end('FAILED')
}

function startDeletion(part: Installation | Execution, job: number): true {
  part.start(job)
  part.deleting = true
  if (part instanceof Installation) part.step = 'initDelete'
  else {
    part.step = 'deleting'
    for (const item of part.items.values()) item.deleting = true
  }
  return true
}
