import type { ObjectFailure } from '../../core/errors.ts'
import { sameJson } from '../../core/json.ts'
import { type Machine, type Step, step } from '../../core/machine.ts'
import type { Change } from '../../core/ports/phase-change.ts'
import type { System } from '../../core/ports/system.ts'
import type {
  ChildCounts,
  FamilyEffects,
  LifecyclePatch,
  MoveOptions,
  NewChild,
  Node,
  Slice,
  TimeoutDefaults,
  Work,
} from '../../core/tree.ts'
import { WORK_STATE } from '../../core/tree.ts'
import type { Actor, Phase } from '../../core/vocabulary.ts'
import { workAfter } from '../../core/work.ts'
import type { SecondaryMachine } from '../../families/family.ts'
import type { Kinds } from '../families.ts'
import { type Part, TrackedObject } from '../tracked-object.ts'
import { ChangeRecorder, type Refused } from './change-recorder.ts'
import { type ReaderOptions, SliceReader } from './slice-reader.ts'

export interface SliceOptions extends ReaderOptions {
  readonly now: Date
  readonly system: System
  readonly timeouts: TimeoutDefaults
  readonly kinds: Pick<Kinds, 'machine' | 'detailsOf'>
  readonly isPaused?: boolean
  /** Left out: false, as for a new root, which is not decided where there are some. */
  readonly hasInvariants?: boolean
}

/** Counts `by` off `waitingFor` of the neighbours on one side. */
export interface Release {
  readonly node: TrackedObject
  readonly side: 'dependents' | 'dependencies'
  readonly by: 0 | 1
}

/** A write of a family in the same transaction, often to other trees. */
export interface Effect {
  readonly name: string
  readonly args: unknown
}

/** The unit of work of one tree: an identity map that tracks what rules do to its objects. It knows no I/O. */
export class TreeSlice extends SliceReader implements Slice {
  readonly now: Date
  readonly timeouts: TimeoutDefaults
  isPaused: boolean
  readonly hasInvariants: boolean
  /** Objects whose rules have to run. */
  readonly touched = new Set<TrackedObject>()
  readonly effects: Effect[] = []
  /** Types of newly offered work, and its objects. */
  readonly offers = new Set<string>()
  readonly offered = new Set<TrackedObject>()
  /** Ids of objects whose deletion was written. */
  readonly gone: string[] = []
  /** The earliest clock that was set; null: none. */
  due: Date | null = null
  /** Objects that decide once nothing else has anything to decide. */
  readonly resting = new Set<TrackedObject>()
  #releases: Release[] = []
  /** Parents of the objects that have released others. */
  readonly #releasing = new Set<string | null>()
  /** A persisted object has new dependencies, so dependents and dependencies have to be read again. */
  isRewired = false
  /** Phase writes and runs of rules so far. */
  moves = 0
  ruleRuns = 0
  readonly #system: System
  readonly #kinds: SliceOptions['kinds']
  readonly #recorder: ChangeRecorder

  constructor(options: SliceOptions) {
    super(options)
    this.now = options.now
    this.timeouts = options.timeouts
    this.isPaused = options.isPaused ?? false
    this.hasInvariants = options.hasInvariants ?? false
    this.#system = options.system
    this.#kinds = options.kinds
    this.#recorder = new ChangeRecorder(options.projectName, options.now, this.nodes)
  }

  get changes(): Change[] {
    return this.#recorder.changes
  }
  newId = (): string => this.#system.id()
  random = (): number => this.#system.random()

  /** Asks the guard. The verdict is kept until the object moves, so that a report and its move are judged once. */
  judge(node: Node, actor: Actor, to: Phase, secondary?: SecondaryMachine): Step {
    const tracked = node as TrackedObject
    const { machine, from } = secondary ?? { machine: this.#kinds.machine(node.row.kind), from: node.row.phase }
    const verdict = step(machine, from, actor, to)
    tracked.judged = { machine, from, actor, to, verdict }
    return verdict
  }

  move(node: Node, to: Phase, options: MoveOptions = {}): void {
    const tracked = node as TrackedObject
    const { row } = tracked
    const { revision } = this.#recordMove(tracked, to, options)
    if (to === 'GONE') tracked.gone = true
    else {
      tracked.pendingTransitions.push({ phase: to, at: this.now, revision })
      tracked.row = { ...row, phase: to, phaseSince: this.now, revision, updatedAt: this.now }
    }
    tracked.dirty.add('row')
  }

  moveSecondary(node: Node, machine: Machine, from: Phase, to: Phase, options: MoveOptions = {}): void {
    const tracked = node as TrackedObject
    const { revision } = this.#recordMove(tracked, to, options, { machine, from })
    // A transition without a change of phase, so that the store has every revision of the log.
    tracked.pendingTransitions.push({ phase: tracked.row.phase, at: tracked.row.phaseSince, revision })
    tracked.row = { ...tracked.row, revision, updatedAt: this.now }
    tracked.dirty.add('row')
  }

  #recordMove(
    tracked: TrackedObject,
    to: Phase,
    options: MoveOptions,
    secondary?: SecondaryMachine,
  ): { readonly revision: number } {
    const { row } = tracked
    const actor = options.actor ?? 'CONTROLLER'
    const { machine, from } = secondary ?? { machine: this.#kinds.machine(row.kind), from: row.phase }
    const { judged } = tracked
    const isJudged = judged?.machine === machine && judged.from === from && judged.actor === actor && judged.to === to
    const verdict = isJudged ? judged.verdict : step(machine, from, actor, to)
    if (!verdict.ok)
      throw new Error(`a rule violates the guard: ${actor} moves ${machine.name} of ${row.name} from ${from} to ${to}`)
    tracked.judged = null
    const revision = row.revision + 1
    const reason = options.reason ?? verdict.reason
    this.#recorder.record(tracked, machine, { from, to, actor, revision, ...options, reason })
    this.moves++
    return { revision }
  }

  /** Records a refused request, which changes nothing else. */
  reject({ node, to, actor, by, reason, secondary }: Refused): void {
    const { machine, from } = secondary ?? { machine: this.#kinds.machine(node.row.kind), from: node.row.phase }
    this.#recorder.record(node, machine, { from, to, actor, by, reason, revision: null })
  }
  recordRequest(node: Node, request: MoveOptions): void {
    const { kind, phase } = node.row
    const { actor = request.by ? 'USER' : 'CONTROLLER' } = request
    const kept = { from: phase, to: phase, revision: null } as const
    this.#recorder.record(node, this.#kinds.machine(kind), { ...kept, ...request, actor }, 'REQUESTED')
  }

  patch(node: Node, patch: LifecyclePatch): void {
    const tracked = changed(node, 'row')
    tracked.row = { ...tracked.row, ...patch, updatedAt: this.now }
  }
  setDetails(node: Node, patch: object): void {
    const tracked = changed(node, 'details')
    tracked.details = { ...(tracked.details as object), ...patch }
  }
  setSpec(node: Node, spec: unknown): void {
    changed(node, 'spec').spec = spec
  }
  setError(node: Node, error: ObjectFailure | null): void {
    changed(node, 'status').error = error
  }
  setProgress(node: Node, progress: unknown): void {
    const tracked = changed(node, 'status')
    tracked.progress = progress
    tracked.hasProgress = progress !== null
  }
  setWork(node: Node, patch: Partial<Work>): void {
    const tracked = changed(node, 'work')
    const before = tracked.work
    tracked.work = workAfter(before, patch)
    const { state, type, dueAt, leaseUntil, leaseWatched, offerAfter } = tracked.work
    const isNewlyOffered = before?.state !== WORK_STATE.OFFERED || (before.offerAfter !== null && offerAfter === null)
    if (state === WORK_STATE.OFFERED && isNewlyOffered) {
      tracked.offered = true
      this.offers.add(type)
      this.offered.add(tracked)
    }
    if (dueAt && dueAt !== before?.dueAt) this.wakeAt(dueAt)
    if (leaseWatched && state === WORK_STATE.CLAIMED && leaseUntil) this.wakeAt(leaseUntil)
  }
  setClock(node: Node, at: Date | null): void {
    if (hasClockInWork(node)) {
      // A request that a CRM has got stays.
      const ended = node.work?.fenceHash ? {} : { state: WORK_STATE.DONE, doneAt: this.now }
      this.setWork(node, { ...ended, dueAt: null })
    }
    if (node.clock?.getTime() === at?.getTime()) return
    changed(node, 'clock').clock = at
    if (at) this.wakeAt(at)
  }
  /** The rules of the tree run at that time, or earlier. */
  wakeAt(at: Date): void {
    if (!this.due || at < this.due) this.due = at
  }
  setChildCounts(node: Node, patch: Partial<ChildCounts>): void {
    const tracked = changed(node, 'childCounts')
    tracked.childCounts = { ...tracked.childCounts, ...patch }
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
    const { kind, name, ordinal, waitingFor = 0 } = child
    const { id: rootId, projectId } = this.root.row
    const place = { id: this.newId(), rootId, parentId: parent.row.id, projectId, kind, name, ordinal, waitingFor }
    return this.adopt(TrackedObject.created(place, this.#kinds.machine(kind).initial, this.now), child, 'CONTROLLER')
  }

  /** Adds a new object, and its record for the log. */
  adopt(
    tracked: TrackedObject,
    { spec, details, labels = {}, by = null }: Pick<NewChild, 'spec' | 'details' | 'labels' | 'by'>,
    actor: Actor,
  ): TrackedObject {
    const { id, kind, phase, revision } = tracked.row
    const defaults = this.#kinds.detailsOf(kind)?.defaults
    tracked.details = defaults ? { ...defaults, ...((details as object) ?? {}) } : null
    tracked.spec = spec
    tracked.labels = labels
    this.nodes.set(id, tracked)
    for (const type of ['children', 'dependents', 'dependencies'] as const) this.questions.answer({ type, id }, [])
    const machine = this.#kinds.machine(kind)
    this.#recorder.record(tracked, machine, { from: null, to: phase, actor, revision, by, reason: 'created' })
    this.moves++
    return tracked
  }

  setDependencies(node: Node, dependencies: readonly Node[]): void {
    const tracked = changed(node, 'edges')
    tracked.dependencies = dependencies as readonly TrackedObject[]
    if (tracked.persisted) this.isRewired = true
    const ids = dependencies.map(({ row }) => row.id)
    this.questions.answer({ type: 'dependencies', id: tracked.row.id }, ids)
    for (const id of ids) this.questions.forget({ type: 'dependents', id })
  }

  release(node: Node, side: 'dependents' | 'dependencies', by: 0 | 1): void {
    this.#releases.push({ node: node as TrackedObject, side, by })
    this.#releasing.add(node.row.parentId)
  }
  /** Returns the releases that are not counted yet, and forgets them. */
  takeReleases(): readonly Release[] {
    this.#releasing.clear()
    return this.#releases.splice(0)
  }
  /** True if children of this object have released others that are not counted yet. */
  isReleasing(node: Node): boolean {
    return this.#releasing.has(node.row.id)
  }
  isAtRest(node: Node): boolean {
    const decides = this.touched.size > 0 || this.#releases.length > 0 || this.questions.pending > 0
    const isAtRest = !decides && this.evaluations.size === 0
    if (!isAtRest) this.resting.add(node as TrackedObject)
    return isAtRest
  }
  touch(node: Node): void {
    this.touched.add(node as TrackedObject)
  }
  effect<E extends keyof FamilyEffects>(name: E, args: FamilyEffects[E]): void {
    // Several objects may request the same effect: it runs once.
    if (!this.effects.some((known) => known.name === name && sameJson(known.args, args)))
      this.effects.push({ name, args })
  }
}

/** The version before keeps the clock of a root in a work row that is claimed without a lease, so that no agent gets it. */
const hasClockInWork = ({ row, work }: Node): boolean =>
  row.parentId === null && work?.state === WORK_STATE.CLAIMED && work.leaseUntil === null && work.dueAt !== null

/** Marks a part of an object as changed. Only the slice creates nodes, so each is a tracked object. */
function changed(node: Node, part: Part): TrackedObject {
  const tracked = node as TrackedObject
  tracked.dirty.add(part)
  return tracked
}
