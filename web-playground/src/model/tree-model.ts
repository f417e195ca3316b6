import type { PhaseChange } from 'phaseline/client'
import type { Machines } from 'phaseline/client-model'
import { inOrder, isRequest, isToRead, patched, type Row } from './object.ts'

/** A dependency: `from` waits for `to`. */
export interface Dependency {
  readonly from: string
  readonly to: string
}

/** Labels by object and key; objects without labels are left out. */
export type Labels = ReadonlyMap<string, ReadonlyMap<string, string>>

/** One tree, updated by a snapshot, phase changes and look-ups in any order; an older revision never wins. */
export class TreeModel {
  readonly rootId: string
  readonly #machines: Machines
  readonly #nodes = new Map<string, Row>()
  readonly #children = new Map<string, Set<string>>()
  /** The children in their order, until they change. */
  readonly #ordered = new Map<string, readonly string[]>()
  readonly #gone = new Set<string>()
  /** Parents, of deleted objects too: a timeline shows them in their places. */
  readonly #parents = new Map<string, string>()
  #dependencies: readonly Dependency[] = []
  #labels: Labels = new Map()
  #isPartial = false
  /** Grows when objects or edges are added or removed, not when phases change. */
  #structure = 0

  constructor(rootId: string, machines: Machines) {
    this.rootId = rootId
    this.#machines = machines
  }

  get nodes(): ReadonlyMap<string, Row> {
    return this.#nodes
  }
  get root(): Row | undefined {
    return this.#nodes.get(this.rootId)
  }
  get dependencies(): readonly Dependency[] {
    return this.#dependencies
  }
  /** Objects are still missing. */
  get isPartial(): boolean {
    return this.#isPartial
  }
  get labels(): Labels {
    return this.#labels
  }
  get structure(): number {
    return this.#structure
  }
  /** Objects that were deleted since the page was opened. */
  get gone(): number {
    return this.#gone.size
  }
  /** In the order of the spec. */
  childrenOf(id: string): readonly string[] {
    const known = this.#ordered.get(id)
    if (known) return known
    const rows = [...(this.#children.get(id) ?? [])].flatMap((child) => this.#nodes.get(child) ?? [])
    const ordered = rows.sort(inOrder).map((row) => row.id)
    this.#ordered.set(id, ordered)
    return ordered
  }

  parentOf(id: string): string | undefined {
    return this.#parents.get(id)
  }

  /** Replaces everything: the snapshot may be of another history of the log. */
  replace(rows: readonly Row[], dependencies: readonly Dependency[], isPartial = false): void {
    this.#isPartial = isPartial
    this.#nodes.clear()
    this.#children.clear()
    this.#ordered.clear()
    this.#gone.clear()
    this.#parents.clear()
    for (const row of rows) this.#add(row)
    this.relate(dependencies)
  }

  relate(dependencies: readonly Dependency[]): void {
    this.#dependencies = dependencies
    this.#structure += 1
  }

  label(labels: Labels): void {
    this.#labels = labels
  }

  /** Adds objects that were looked up. */
  put(rows: readonly Row[]): void {
    for (const row of rows) {
      const known = this.#nodes.get(row.id)
      if (this.#gone.has(row.id) || (known && known.revision > row.revision)) continue
      if (known) this.#nodes.set(row.id, row)
      else this.#add(row)
      if (known && known.ordinal === row.ordinal) continue
      this.#ordered.delete(row.parent?.id ?? '')
      this.#structure += 1
    }
  }

  /** Applies changes; returns the ids to look up: new objects, and those of which the change does not say all. */
  change(changes: readonly PhaseChange[]): { readonly fresh: readonly string[]; readonly ended: readonly string[] } {
    const fresh = new Set<string>()
    const ended = new Set<string>()
    for (const change of changes) {
      const { objectId: id, to } = change
      if (change.rootId !== this.rootId || change.rejected || this.#gone.has(id)) continue
      if (to === 'GONE') {
        fresh.delete(id)
        ended.delete(id)
        this.remove(id)
        continue
      }
      const node = this.#nodes.get(id)
      if (!node) {
        fresh.add(id)
        continue
      }
      if (isRequest(change)) ended.add(id)
      const next = patched(node, change, this.#machines)
      if (next === node) continue
      this.#nodes.set(id, next)
      if (isToRead(next)) ended.add(id)
    }
    return { fresh: [...fresh], ended: [...ended] }
  }

  remove(id: string): void {
    this.#gone.add(id)
    const node = this.#nodes.get(id)
    if (!node) return
    this.#nodes.delete(id)
    if (node.parent) this.#children.get(node.parent.id)?.delete(id)
    this.#ordered.delete(node.parent?.id ?? '')
    this.#structure += 1
  }

  #add(row: Row): void {
    this.#nodes.set(row.id, row)
    if (!row.parent) return
    this.#parents.set(row.id, row.parent.id)
    const siblings = this.#children.get(row.parent.id)
    this.#ordered.delete(row.parent.id)
    if (siblings) siblings.add(row.id)
    else this.#children.set(row.parent.id, new Set([row.id]))
  }
}
