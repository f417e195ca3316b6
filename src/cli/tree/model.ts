import { type Machines, type PhaseClass, type ShownForecast, shownBlockers } from '../../client-model/index.ts'
import type { MachineInfo } from '../objects/machines.ts'
import type { Blocker, Progress, TreeObject } from './fields.ts'

/** The part of a phase change that the model applies. */
export interface TreeChange {
  readonly sequence: number
  readonly objectId: string
  readonly kind: string
  readonly name: string
  readonly machine: string
  readonly from?: string | null
  readonly to: string
  readonly jobId?: string | null
  readonly revision: number
  readonly rejected: boolean
  readonly at: string
}

export interface TreeNode {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly parentId: string | null
  readonly phase: string
  readonly phaseClass: PhaseClass
  /** Milliseconds since 1970, as are the other times. */
  readonly phaseSince: number
  readonly finished: boolean
  readonly revision: number
  readonly jobId: string | null
  readonly error: TreeObject['error']
  readonly progress: Progress | null
  readonly blockedBy: readonly Blocker[]
  /** When a watched change moved it out of a final phase, or triggered it. */
  readonly startedAt: number | null
  readonly endedAt: number | null
}

/** The renderer's view: every existing object of the tree at or below `rootId`. */
export interface TreeView {
  readonly rootId: string
  readonly machines: Machines<MachineInfo>
  readonly nodes: ReadonlyMap<string, TreeNode>
  /** Ids of the children by id of the parent, in creation order. */
  readonly children: ReadonlyMap<string, ReadonlySet<string>>
  /** Objects that ended GONE during the watch. */
  readonly gone: number
  /** When `rootId` is expected to end; null: nothing shows it. */
  readonly forecast: ShownForecast | null
}

/** Grace period for agents that start or restart before their absence is shown. */
const AGENT_PATIENCE_MS = 5_000

/** The blockers worth telling: that no agent takes new work is not, as long as one may be about to. */
export function visibleBlockers(
  { blockedBy, phaseSince }: Pick<TreeNode, 'blockedBy' | 'phaseSince'>,
  now: number,
): readonly Blocker[] {
  const isPatient = now - phaseSince < AGENT_PATIENCE_MS
  return shownBlockers(isPatient ? blockedBy.filter(({ reason }) => reason !== 'AGENT') : blockedBy)
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The tree in memory. Applies snapshots, phase changes and updates in any order; an older revision never wins. */
export class TreeModel implements TreeView {
  readonly rootId: string
  readonly machines: Machines<MachineInfo>
  readonly #nodes = new Map<string, Mutable<TreeNode>>()
  readonly #children = new Map<string, Set<string>>()
  readonly #gone = new Set<string>()
  /** Includes objects that are gone. */
  readonly #parents = new Map<string, string | null>()
  #rootName: string
  forecast: ShownForecast | null = null
  /** Objects that failed by a phase change, and whose error no update has brought yet. */
  readonly unexplained = new Set<string>()

  constructor(rootId: string, machines: Machines<MachineInfo>, rootName = rootId) {
    this.rootId = rootId
    this.#rootName = rootName
    this.machines = machines
  }

  get nodes(): ReadonlyMap<string, TreeNode> {
    return this.#nodes
  }
  get children(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#children
  }
  get gone(): number {
    return this.#gone.size
  }
  get root(): TreeNode | undefined {
    return this.#nodes.get(this.rootId)
  }
  /** The root's name, also after its end; its id until the name is known. */
  get rootName(): string {
    return this.#rootName
  }

  /** Applies the state of an object, from a snapshot, an update or a query. */
  put(object: TreeObject): void {
    if (this.#gone.has(object.id)) return
    const known = this.#nodes.get(object.id)
    if (known && known.revision > object.revision) return
    this.unexplained.delete(object.id)
    this.#set(object, known)
  }

  /** Replaces everything by a snapshot, which may be from another history of the log. */
  replace(objects: readonly TreeObject[]): void {
    const known = new Map(this.#nodes)
    this.#nodes.clear()
    this.#children.clear()
    this.unexplained.clear()
    for (const object of objects) {
      this.#gone.delete(object.id)
      this.#set(object, known.get(object.id))
    }
    for (const id of known.keys()) if (!this.#nodes.has(id)) this.#gone.add(id)
  }

  /** Applies a phase change; returns whether it changed anything. */
  change(change: TreeChange): boolean {
    if (this.#gone.has(change.objectId) || !this.machines.moves(change)) return false
    if (change.to === 'GONE') return this.remove(change.objectId)
    const node = this.#nodes.get(change.objectId)
    if (!node) return false
    const at = Date.parse(change.at)
    this.#clock(node, change, at)
    if (change.revision <= node.revision) return false
    node.phase = change.to
    node.phaseClass = this.machines.classOf(change.to)
    node.phaseSince = at
    node.revision = change.revision
    node.jobId = change.jobId ?? node.jobId
    node.finished = this.machines.isFinal(node.kind, change.to)
    node.blockedBy = []
    if (['FAILED', 'STOPPED'].includes(node.phaseClass)) this.unexplained.add(node.id)
    else node.error = null
    if (node.finished) node.progress = null
    return true
  }

  /** Removes an object that no longer exists; returns whether it was there. */
  remove(id: string): boolean {
    this.unexplained.delete(id)
    this.#gone.add(id)
    const node = this.#nodes.get(id)
    if (!node) return false
    this.#nodes.delete(id)
    if (node.parentId !== null) this.#children.get(node.parentId)?.delete(id)
    return true
  }

  /** True if the object is, or was, in the tree: the caller queries others. */
  knows(id: string): boolean {
    return this.#nodes.has(id) || this.#gone.has(id)
  }

  /** True if the object is, or was, at or below the root. An unknown object may be. */
  isBelow(id: string): boolean {
    if (!this.#parents.has(id)) return true
    for (let at: string | null = id; at !== null; at = this.#parents.get(at) ?? null)
      if (at === this.rootId) return true
    return false
  }

  /** Names from the focus down, e.g. `shop/backend/api`. */
  pathOf(id: string): string {
    const names: string[] = []
    for (let node = this.#nodes.get(id); node; node = node.parentId ? this.#nodes.get(node.parentId) : undefined) {
      names.unshift(node.name)
    }
    return names.join('/')
  }

  #set(object: TreeObject, known: TreeNode | undefined): void {
    const node = fromObject(object, known, this.machines)
    this.#nodes.set(node.id, node)
    this.#parents.set(node.id, node.parentId)
    if (node.id === this.rootId) this.#rootName = node.name
    if (node.parentId === null) return
    const siblings = this.#children.get(node.parentId)
    if (siblings) siblings.add(node.id)
    else this.#children.set(node.parentId, new Set([node.id]))
  }

  #clock(node: Mutable<TreeNode>, { kind, from, to }: TreeChange, at: number): void {
    const wasIdle = from == null || from === 'PENDING' || this.machines.isFinal(kind, from)
    if (this.machines.isFinal(kind, to)) node.endedAt = at
    else if (wasIdle) {
      node.startedAt = at
      node.endedAt = null
    }
  }
}

function fromObject(object: TreeObject, known: TreeNode | undefined, machines: Machines): Mutable<TreeNode> {
  const { id, kind, name, parent, phase, phaseSince, finished, revision, jobId, error, progress, blockedBy } = object
  const samePhase = known?.phase === phase
  return {
    ...{ id, kind, name, phase, finished, revision, jobId, error, progress },
    phaseClass: machines.classOf(phase),
    parentId: parent?.id ?? null,
    phaseSince: Date.parse(phaseSince),
    blockedBy: blockedBy ?? (samePhase ? known.blockedBy : []),
    startedAt: known?.startedAt ?? null,
    endedAt: known?.endedAt ?? null,
  }
}
