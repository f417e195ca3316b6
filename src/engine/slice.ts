import type { ObjectFailure } from '../core/errors.ts'
import { sameJson } from '../core/json.ts'
import { type Machine, step } from '../core/machine.ts'
import type { Change } from '../core/ports/phase-change.ts'
import type { System } from '../core/ports/system.ts'
import type {
  ChildCounts,
  Evaluated,
  LifecyclePatch,
  MoveOptions,
  NewChild,
  Node,
  ObjectRow,
  Slice,
  TimeoutDefaults,
  Work,
} from '../core/tree.ts'
import { WORK_STATE } from '../core/tree.ts'
import type { Actor, ObjectKind, Phase } from '../core/vocabulary.ts'
import { workAfter } from '../core/work.ts'
import { NO_SPECS, type SpecsOfTree } from './kept-specs.ts'
import { type Question, Questions } from './questions.ts'
import { TrackedObject } from './tracked-object.ts'

export interface SliceOptions {
  root: TrackedObject
  readonly projectName: string
  readonly system: System
  readonly now: Date
  readonly timeouts: TimeoutDefaults
  readonly machineOf: (kind: ObjectKind) => Machine
  readonly detailsDefaults: (kind: ObjectKind) => object | null
  /** Expressions and schemas that were evaluated before the lock was taken, by what was evaluated. */
  readonly evaluated: ReadonlyMap<string, Evaluated>
  /** Of the transaction before, where it was stopped by its budget. */
  readonly keptSpecs?: SpecsOfTree | undefined
}

export interface Evaluation {
  readonly key: string
  readonly objectId: string
  readonly job:
    | { readonly type: 'resolve'; readonly template: unknown; readonly scope: Readonly<Record<string, unknown>> }
    | { readonly type: 'validate'; readonly schema: unknown; readonly value: unknown }
}

/** A request or a report that the guard has refused. */
export interface Refused {
  readonly node: Node
  readonly to: Phase
  readonly actor: Actor
  readonly by: string | null
  readonly reason: string
  /** Where it was about another lifecycle than the phase. */
  readonly secondary?: { readonly machine: Machine; readonly from: Phase } | undefined
}

export interface Release {
  readonly node: TrackedObject
  readonly side: 'dependents' | 'dependencies'
  readonly by: 0 | 1
}

/** What is to be done to other trees with the same transaction; its family knows how. */
export interface Effect {
  readonly name: string
  readonly args: unknown
}

/** The unit of work: an identity map over one tree that records what rules do to it. It knows no I/O. */
export class TreeSlice implements Slice {
  root: TrackedObject
  readonly now: Date
  readonly timeouts: TimeoutDefaults
  readonly nodes = new Map<string, TrackedObject>()
  readonly questions = new Questions()
  readonly touched = new Set<TrackedObject>()
  /** Touched by id, not loaded yet. */
  readonly wanted = new Set<string>()
  readonly evaluations = new Map<string, Evaluation>()
  readonly effects: Effect[] = []
  readonly changes: Change[] = []
  /** Types of work that came up, and where. */
  readonly offers = new Set<string>()
  readonly offered = new Set<TrackedObject>()
  /** The earliest clock that was set; null: none was. */
  due: Date | null = null
  releases: Release[] = []
  /** Something that is in the store depends on others than before: who depends on whom has to be asked again. */
  rewired = false
  moves = 0
  looks = 0
  readonly #options: SliceOptions

  constructor(options: SliceOptions) {
    this.#options = options
    this.root = options.root
    this.now = options.now
    this.timeouts = options.timeouts
    this.nodes.set(options.root.row.id, options.root)
  }

  get projectName(): string {
    return this.#options.projectName
  }

  get keptSpecs(): SpecsOfTree {
    return this.#options.keptSpecs ?? NO_SPECS
  }

  newId = (): string => this.#options.system.id()
  random = (): number => this.#options.system.random()
  parent = (node: Node): TrackedObject | null => (node.row.parentId === null ? null : this.#loaded(node.row.parentId))
  get = (id: string): TrackedObject | undefined => this.nodes.get(id)

  // Questions: undefined until the engine has loaded the answer.

  children(node: Node): readonly TrackedObject[] | undefined {
    if (!this.#ask(node, { type: 'children', id: node.row.id })) return undefined
    return this.#childrenOf(node.row.id)
  }

  #childrenOf(id: string): readonly TrackedObject[] {
    const found = [...this.nodes.values()].filter((n) => n.row.parentId === id && !n.gone)
    return found.sort((a, b) => a.row.ordinal - b.row.ordinal || (a.row.id < b.row.id ? -1 : 1))
  }

  childrenNamed(
    node: Node,
    kind: ObjectKind,
    names: readonly string[],
  ): ReadonlyMap<string, TrackedObject> | undefined {
    const known = this.#knownByName(node, kind, names)
    if (known) return known
    const ids = this.#ask<readonly string[]>(node, { type: 'named', id: node.row.id, kind, names })
    return ids && new Map(this.#live(ids).map((n) => [n.row.name, n]))
  }

  /** All of them are in memory, specs included: null when that is not certain. */
  #knownByName(node: Node, kind: ObjectKind, names: readonly string[]): ReadonlyMap<string, TrackedObject> | null {
    if (!this.questions.isAnswered({ type: 'children', id: node.row.id })) return null
    const wanted = new Set(names)
    const found = this.#childrenOf(node.row.id).filter(({ row }) => row.kind === kind && wanted.has(row.name))
    return found.every(({ spec }) => spec !== undefined) ? new Map(found.map((n) => [n.row.name, n])) : null
  }

  readyChildren(node: Node, after: number, limit: number): readonly TrackedObject[] | undefined {
    const { id, jobId } = node.row
    // All of them are in memory when they have just been created, or were all asked for.
    if (this.questions.isAnswered({ type: 'children', id })) {
      const isReady = ({ row }: TrackedObject) => row.ordinal > after && row.waitingFor === 0 && row.jobId !== jobId
      return this.#childrenOf(id).filter(isReady).slice(0, limit)
    }
    // What is ready changes with every trigger, so the answer is good for one look only.
    const question: Question = { type: 'ready', id, after, jobId, limit }
    const ids = this.#ask<readonly string[]>(node, question)
    if (ids) this.questions.forget(question)
    return ids && this.#live(ids)
  }

  spec(node: Node): unknown {
    const tracked = node as TrackedObject
    if (tracked.spec === undefined) this.#ask(node, { type: 'spec', id: node.row.id })
    return tracked.spec
  }

  neighbours(node: Node, side: 'dependents' | 'dependencies'): readonly TrackedObject[] | undefined {
    const ids = this.#ask<readonly string[]>(node, { type: side, id: node.row.id })
    return ids && this.#live(ids)
  }

  known(node: Node, side: 'dependents' | 'dependencies'): readonly TrackedObject[] | undefined {
    const ids = this.questions.find({ type: side, id: node.row.id })
    return ids === undefined ? undefined : this.#live(ids as readonly string[])
  }

  ask<T>(question: string, args: unknown): T | undefined {
    return this.#ask<T>(this.root, { type: 'own', question, args })
  }

  evaluate(node: Node, template: unknown, scope: Readonly<Record<string, unknown>>): Evaluated | undefined {
    return this.#evaluate(node, { type: 'resolve', template, scope })
  }
  validate(node: Node, schema: unknown, value: unknown): Evaluated | undefined {
    return this.#evaluate(node, { type: 'validate', schema, value })
  }

  #evaluate(node: Node, job: Evaluation['job']): Evaluated | undefined {
    const key = `${node.row.id} ${JSON.stringify(job)}`
    const known = this.#options.evaluated.get(key)
    if (!known) this.evaluations.set(key, { key, objectId: node.row.id, job })
    return known
  }

  #ask<T>(node: Node, question: Question): T | undefined {
    return this.questions.ask(question, this.#current ?? (node as TrackedObject)) as T | undefined
  }
  #loaded(id: string): TrackedObject {
    const node = this.nodes.get(id)
    if (!node) throw new Error(`object ${id} should have been loaded with its descendant`)
    return node
  }
  #live(ids: readonly string[]): readonly TrackedObject[] {
    return ids.flatMap((id) => {
      const node = this.nodes.get(id)
      return node && !node.gone ? [node] : []
    })
  }

  /** Whose turn it is: a family's question is answered to it. */
  #current: TrackedObject | null = null
  look(node: TrackedObject, rule: () => void): void {
    this.#current = node
    try {
      rule()
    } finally {
      this.#current = null
    }
  }

  // What rules do.

  move(node: Node, to: Phase, options: MoveOptions = {}): void {
    const tracked = node as TrackedObject
    const { row } = tracked
    const actor = options.actor ?? 'CONTROLLER'
    const machine = this.#options.machineOf(row.kind)
    const verdict = step(machine, row.phase, actor, to)
    if (!verdict.ok)
      throw new Error(`rule broke the guard: ${actor} moves ${row.kind} ${row.name} from ${row.phase} to ${to}`)
    const revision = row.revision + 1
    this.#record(tracked, {
      from: row.phase,
      to,
      actor,
      revision,
      ...options,
      reason: options.reason ?? verdict.reason,
    })
    if (to === 'GONE') tracked.gone = true
    else {
      tracked.pendingTransitions.push({ phase: to, at: this.now, revision })
      tracked.row = { ...row, phase: to, phaseSince: this.now, revision, updatedAt: this.now }
    }
    tracked.dirty.add('row')
    this.moves++
  }

  moveSecondary(node: Node, machine: Machine, from: Phase, to: Phase, options: MoveOptions = {}): void {
    const tracked = node as TrackedObject
    const actor = options.actor ?? 'CONTROLLER'
    const verdict = step(machine, from, actor, to)
    if (!verdict.ok)
      throw new Error(`rule broke the guard: ${actor} moves ${machine.name} of ${node.row.name} from ${from} to ${to}`)
    const revision = tracked.row.revision + 1
    const reason = options.reason ?? verdict.reason
    this.#record(tracked, { from, to, actor, revision, ...options, reason }, machine)
    // A hop without a change of phase: the store has every revision that a record tells of.
    tracked.pendingTransitions.push({ phase: tracked.row.phase, at: tracked.row.phaseSince, revision })
    tracked.row = { ...tracked.row, revision, updatedAt: this.now }
    tracked.dirty.add('row')
    this.moves++
  }

  /** A refused request leaves this and nothing else. */
  reject(refused: Refused): void {
    const { node, to, actor, by, reason, secondary } = refused
    const from = secondary?.from ?? node.row.phase
    this.#record(node as TrackedObject, { from, to, actor, by, reason, revision: null }, secondary?.machine)
  }

  #record(
    tracked: TrackedObject,
    change: { from: Phase | null; to: Phase; actor: Actor; revision: number | null } & MoveOptions,
    machine = this.#options.machineOf(tracked.row.kind),
  ): void {
    const { row } = tracked
    this.changes.push({
      objectId: row.id,
      rootId: row.rootId,
      parentId: row.parentId,
      projectName: this.#options.projectName,
      kind: row.kind,
      name: row.name,
      machine: machine.name,
      from: change.from,
      to: change.to,
      actor: change.actor,
      by: change.by ?? null,
      reason: change.reason ?? null,
      message: change.message ?? null,
      jobId: row.jobId,
      revision: change.revision,
      rejected: change.revision === null,
      at: this.now,
    })
  }

  patch(node: Node, patch: LifecyclePatch): void {
    const tracked = node as TrackedObject
    tracked.row = { ...tracked.row, ...patch, updatedAt: this.now }
    tracked.dirty.add('row')
  }
  setDetails(node: Node, patch: object): void {
    const tracked = node as TrackedObject
    tracked.details = { ...(tracked.details as object), ...patch }
    tracked.dirty.add('details')
  }
  setSpec(node: Node, spec: unknown): void {
    const tracked = node as TrackedObject
    tracked.spec = spec
    tracked.dirty.add('spec')
  }
  setError(node: Node, error: ObjectFailure | null): void {
    const tracked = node as TrackedObject
    tracked.error = error
    tracked.dirty.add('status')
  }
  setProgress(node: Node, progress: unknown): void {
    const tracked = node as TrackedObject
    tracked.progress = progress
    tracked.hasProgress = progress !== null
    tracked.dirty.add('status')
  }
  setWork(node: Node, patch: Partial<Work>): void {
    const tracked = node as TrackedObject
    const before = tracked.work
    tracked.work = workAfter(before, patch)
    const { state, type, dueAt, leaseUntil, leaseWatched } = tracked.work
    if (state === WORK_STATE.OFFERED && before?.state !== WORK_STATE.OFFERED) {
      tracked.offered = true
      this.offers.add(type)
      this.offered.add(tracked)
    }
    if (dueAt && dueAt !== before?.dueAt) this.#wakeAt(dueAt)
    if (leaseWatched && state === WORK_STATE.CLAIMED && leaseUntil) this.#wakeAt(leaseUntil)
    tracked.dirty.add('work')
  }
  #wakeAt(at: Date): void {
    if (!this.due || at < this.due) this.due = at
  }
  setChildCounts(node: Node, patch: Partial<ChildCounts>): void {
    const tracked = node as TrackedObject
    tracked.childCounts = { ...tracked.childCounts, ...patch }
    tracked.dirty.add('childCounts')
  }
  addChildCounts(node: Node, delta: Partial<ChildCounts>): void {
    const { total, untriggered, open, failed, cursor } = node.childCounts
    this.setChildCounts(node, {
      total: total + (delta.total ?? 0),
      untriggered: untriggered + (delta.untriggered ?? 0),
      open: open + (delta.open ?? 0),
      failed: failed + (delta.failed ?? 0),
      cursor: cursor + (delta.cursor ?? 0),
    })
  }

  create(parent: Node, child: NewChild): TrackedObject {
    const tracked = this.add(
      {
        rootId: this.root.row.id,
        parentId: parent.row.id,
        projectId: this.root.row.projectId,
        kind: child.kind,
        name: child.name,
        ordinal: child.ordinal,
        waitingFor: child.waitingFor ?? 0,
      },
      child,
    )
    return tracked
  }

  /** A new object, with its record in the log. */
  add(
    place: Pick<ObjectRow, 'rootId' | 'parentId' | 'projectId' | 'kind' | 'name' | 'ordinal' | 'waitingFor'>,
    child: Pick<NewChild, 'spec' | 'details' | 'labels' | 'by'>,
    id = this.newId(),
    actor: Actor = 'CONTROLLER',
  ): TrackedObject {
    const { now } = this
    const machine = this.#options.machineOf(place.kind)
    const tracked = TrackedObject.fresh({
      ...place,
      id,
      phase: machine.initial,
      phaseSince: now,
      revision: 1,
      generation: 1,
      observedGeneration: 0,
      jobId: null,
      finishedJobId: null,
      deletionRequestedAt: null,
      createdAt: now,
      updatedAt: now,
    })
    return this.adopt(tracked, child, actor)
  }

  adopt(
    tracked: TrackedObject,
    child: Pick<NewChild, 'spec' | 'details' | 'labels' | 'by'>,
    actor: Actor,
  ): TrackedObject {
    const defaults = this.#options.detailsDefaults(tracked.row.kind)
    tracked.details = defaults && { ...defaults, ...((child.details as object) ?? {}) }
    tracked.spec = child.spec
    tracked.labels = child.labels ?? {}
    const { id, phase, revision } = tracked.row
    this.nodes.set(id, tracked)
    for (const type of ['children', 'dependents', 'dependencies'] as const) this.questions.answer({ type, id }, [])
    this.#record(tracked, { from: null, to: phase, actor, revision, by: child.by ?? null, reason: 'created' })
    this.moves++
    return tracked
  }

  setDependencies(node: Node, dependencies: readonly Node[]): void {
    const tracked = node as TrackedObject
    tracked.dependencies = dependencies as readonly TrackedObject[]
    if (tracked.persisted) this.rewired = true
    tracked.dirty.add('edges')
    this.questions.answer(
      { type: 'dependencies', id: tracked.row.id },
      dependencies.map((d) => d.row.id),
    )
    for (const d of dependencies) this.questions.forget({ type: 'dependents', id: d.row.id })
  }

  release(node: Node, side: 'dependents' | 'dependencies', by: 0 | 1): void {
    this.releases.push({ node: node as TrackedObject, side, by })
  }
  touch(node: Node): void {
    this.touched.add(node as TrackedObject)
  }
  effect(name: string, args: unknown): void {
    // Once is enough: several objects may ask for the same.
    if (!this.effects.some((known) => known.name === name && sameJson(known.args, args)))
      this.effects.push({ name, args })
  }
}
