import type { ObjectFailure } from '../../../../src/core/errors.ts'
import { type Machine, type Step, step } from '../../../../src/core/machine.ts'
import type {
  ChildCounts,
  Evaluated,
  LifecyclePatch,
  MoveOptions,
  NewChild,
  Node,
  ObjectRow,
  Slice,
  Work,
} from '../../../../src/core/tree.ts'
import { NO_CHILD_COUNTS } from '../../../../src/core/tree.ts'
import type { Actor, ObjectKind, Phase } from '../../../../src/core/vocabulary.ts'
import { cloudlet, instance } from '../../../../src/families/edge/machines.ts'
import type { FenceParts } from '../../../../src/families/edge/rules/requests.ts'
import { detailsTables } from '../../../../src/families/edge/store/details.ts'
import { requestFence } from '../../../../src/families/edge/store/fences.ts'
import { TIMEOUTS } from '../../../testkit/world.ts'
import { Violation } from './violation.ts'

/** One tree in memory, as the rules see it. Records are never changed in place: states share them. */

/** No clock runs in the model: that a deadline has passed is an event of its own. */
export const NOW = new Date(1_000_000_000)

export interface ModelRecord {
  readonly row: ObjectRow
  readonly work: Work | null
  readonly details: unknown
  readonly spec: unknown
  readonly error: ObjectFailure | null
}

export class ModelNode implements Node {
  row: ObjectRow
  readonly childCounts: ChildCounts = NO_CHILD_COUNTS
  work: Work | null
  error: ObjectFailure | null
  hasProgress = false
  readonly clock = null
  details: unknown
  spec: unknown
  gone = false

  constructor({ row, work, details, spec, error }: ModelRecord) {
    this.row = row
    this.work = work
    this.details = details
    this.spec = spec
    this.error = error
  }

  record(): ModelRecord {
    const { row, work, details, spec, error } = this
    return { row, work, details, spec, error }
  }
}

/** The actor that moves from a phase; the deadline and the withdrawal are the documented exceptions. */
const EXCEPTIONS = new Set(['timeout', 'withdrawn'])
const OFFLINE_CASCADE = 'its offline cloudlet is deleted with all that is beneath it'
const owners = new Map(
  instance.phases.map((phase) => {
    const rows = instance.transitions.filter(
      ({ from, actor, to, reason }) => from === phase && reason !== OFFLINE_CASCADE && !isException(actor, to, reason),
    )
    return [phase, new Set(rows.map(({ actor }) => actor))]
  }),
)
function isException(actor: string, to: Phase, reason: string): boolean {
  return actor === 'CONTROLLER' && to.endsWith('_ERROR') && /timeout/.test(reason)
}
export const ownersOf = (phase: Phase): ReadonlySet<string> => owners.get(phase) ?? new Set()

export interface Moved {
  readonly id: string
  readonly from: Phase
  readonly to: Phase
  readonly actor: string
}

const LACKING = (what: string) => new Error(`the edge family was not known to need ${what}`)

export class ModelSlice implements Slice {
  readonly now = NOW
  readonly timeouts = TIMEOUTS
  readonly isPaused = false
  readonly hasInvariants = false
  readonly nodes = new Map<string, ModelNode>()
  readonly root: ModelNode
  readonly touched = new Set<ModelNode>()
  readonly ended = new Set<number>()
  readonly moved: Moved[] = []
  /** Number of the next id. */
  next: number
  /** Epochs whose lease is kept. */
  readonly #leases: readonly number[]

  constructor(records: readonly ModelRecord[], { next, leases }: { next: number; leases: readonly number[] }) {
    for (const record of records) this.nodes.set(record.row.id, new ModelNode(record))
    this.root = this.nodes.values().next().value as ModelNode
    this.next = next
    this.#leases = leases
  }

  newId = (): string => idOf(this.next++)
  random = (): number => 0
  parent = (node: Node): ModelNode | null => this.nodes.get(node.row.parentId ?? '') ?? null
  get = (id: string): ModelNode | undefined => this.nodes.get(id)

  children(node: Node): readonly ModelNode[] {
    return [...this.nodes.values()].filter(({ row, gone }) => row.parentId === node.row.id && !gone)
  }
  spec = (node: Node): unknown => (node as ModelNode).spec
  ask<T>(question: string, args: unknown): T | undefined {
    if (question === 'crmFence') return requestFence(args as FenceParts).hash.toString('hex') as T
    if (question !== 'crmLeases') throw LACKING(question)
    const until = NOW.getTime() + 1
    // A lease that ends in this transaction ends after all decisions.
    return this.#leases.map((epoch) => ({ epoch, until })) as T
  }

  judge(node: Node, actor: Actor, to: Phase, secondary?: { readonly machine: Machine; readonly from: Phase }): Step {
    const machine = node.row.kind === 'CLOUDLET' ? cloudlet : instance
    return secondary ? step(secondary.machine, secondary.from, actor, to) : step(machine, node.row.phase, actor, to)
  }
  move(node: Node, to: Phase, { actor = 'CONTROLLER', reason }: MoveOptions = {}): void {
    const { row } = node
    const machine = row.kind === 'CLOUDLET' ? cloudlet : instance
    const verdict = step(machine, row.phase, actor, to)
    if (!verdict.ok) throw new Violation(`${actor} moves ${row.kind} from ${row.phase} to ${to}, which no row allows`)
    const isTurn = row.kind === 'CLOUDLET' || ownersOf(row.phase).has(actor) || EXCEPTIONS.has(reason ?? '')
    if (!isTurn) throw new Violation(`${actor} moves ${row.kind} out of ${row.phase}, where it has no turn`)
    this.moved.push({ id: row.id, from: row.phase, to, actor })
    const tracked = node as ModelNode
    if (to === 'GONE') tracked.gone = true
    else tracked.row = { ...row, phase: to, revision: row.revision + 1 }
  }
  moveSecondary(
    node: Node,
    machine: Machine,
    from: Phase,
    to: Phase,
    { actor = 'CONTROLLER' }: MoveOptions = {},
  ): void {
    if (!step(machine, from, actor, to).ok)
      throw new Violation(`${actor} moves ${machine.name} from ${from} to ${to}, which no row allows`)
    this.moved.push({ id: node.row.id, from, to, actor })
  }

  recordRequest(): void {
    throw new Violation('an edge request never waits')
  }
  patch(node: Node, patch: LifecyclePatch): void {
    const tracked = node as ModelNode
    tracked.row = { ...tracked.row, ...patch }
  }
  setDetails(node: Node, patch: object): void {
    const tracked = node as ModelNode
    tracked.details = { ...(tracked.details as object), ...patch }
  }
  setSpec(node: Node, spec: unknown): void {
    const tracked = node as ModelNode
    tracked.spec = spec
  }
  setError(node: Node, error: ObjectFailure | null): void {
    const tracked = node as ModelNode
    tracked.error = error
  }
  setProgress(): void {}
  setWork(node: Node, patch: Partial<Work>): void {
    const tracked = node as ModelNode
    tracked.work = { handed: false, handedConfig: null, leaseWatched: false, ...tracked.work, ...patch } as Work
  }

  /** The end of a lease is an event of its own. */
  setClock(): void {}

  create(parent: Node, { kind, name, ordinal, spec, details }: NewChild): ModelNode {
    const { id: rootId } = this.root.row
    const row = newRow({ id: this.newId(), rootId, parentId: parent.row.id, kind, name, ordinal })
    const node = new ModelNode(newRecord(row, spec, details))
    this.nodes.set(row.id, node)
    return node
  }
  touch(node: Node): void {
    this.touched.add(node as ModelNode)
  }
  effect(name: string, args: unknown): void {
    if (name === 'endCrmLease') this.ended.add((args as { epoch: number }).epoch)
    else if (name === 'endCrmLeases') for (const epoch of this.#leases) this.ended.add(epoch)
    else throw LACKING(name)
  }

  records = (): readonly ModelRecord[] =>
    [...this.nodes.values()].filter(({ gone }) => !gone).map((node) => node.record())
  leases = (): readonly number[] => this.#leases.filter((epoch) => !this.ended.has(epoch))

  childrenNamed(): never {
    throw LACKING('childrenNamed')
  }
  readyChildren(): never {
    throw LACKING('readyChildren')
  }
  neighbours(): never {
    throw LACKING('neighbours')
  }
  known(): never {
    throw LACKING('known')
  }
  evaluate(): Evaluated {
    throw LACKING('evaluate')
  }
  validate(): Evaluated {
    throw LACKING('validate')
  }
  setChildCounts(): void {
    throw LACKING('setChildCounts')
  }
  addChildCounts(): void {
    throw LACKING('addChildCounts')
  }
  setDependencies(): void {
    throw LACKING('setDependencies')
  }
  release(): void {
    throw LACKING('release')
  }
  isAtRest(): never {
    throw LACKING('isAtRest')
  }
}

/** Ids grow with time, as those of the server do. */
export const idOf = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`

export const newRecord = (row: ObjectRow, spec: unknown, details?: unknown): ModelRecord => ({
  row,
  work: null,
  spec,
  error: null,
  details: { ...detailsTables.find(({ kinds }) => kinds.includes(row.kind))?.defaults, ...((details as object) ?? {}) },
})

type NewRow = Pick<ObjectRow, 'id' | 'rootId' | 'parentId' | 'name' | 'ordinal'> & { readonly kind: ObjectKind }
export const newRow = (row: NewRow): ObjectRow => ({
  ...row,
  projectId: idOf(0),
  phase: row.kind === 'CLOUDLET' ? 'OFFLINE' : 'NOT_PRESENT',
  phaseSince: NOW,
  revision: 1,
  generation: 1,
  observedGeneration: 0,
  jobId: null,
  finishedJobId: null,
  deletionRequestedAt: null,
  waitingFor: 0,
  createdAt: NOW,
  updatedAt: NOW,
})
