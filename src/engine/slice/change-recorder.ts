import type { Machine } from '../../core/machine.ts'
import type { Change } from '../../core/ports/phase-change.ts'
import type { Principal } from '../../core/ports/viewer.ts'
import type { MoveOptions, Node, ObjectRow } from '../../core/tree.ts'
import type { Actor, Phase } from '../../core/vocabulary.ts'
import type { SecondaryMachine } from '../../families/family.ts'

/** A request or a report that the guard has refused. */
export interface Refused {
  readonly node: Node
  readonly to: Phase
  readonly actor: Actor
  readonly by: Principal | null
  readonly reason: string
  /** Present if the request concerns the secondary machine of the object. */
  readonly secondary?: SecondaryMachine | undefined
}

type Moved = {
  readonly from: Phase | null
  readonly to: Phase
  readonly actor: Actor
  readonly revision: number | null
}

/** Collects the records of one tree for the log, in their order. */
export class ChangeRecorder {
  readonly changes: Change[] = []
  readonly #projectName: string
  readonly #at: Date
  readonly #nodes: ReadonlyMap<string, { readonly row: ObjectRow }>
  /** Paths of parents, since most of the objects that change are siblings. */
  readonly #paths = new Map<string, string>()

  /** @param nodes objects in memory: those that change, and their ancestors */
  constructor(projectName: string, at: Date, nodes: ReadonlyMap<string, { readonly row: ObjectRow }>) {
    this.#projectName = projectName
    this.#at = at
    this.#nodes = nodes
  }

  /** @param moved a change without a revision is a refused one, unless it is a request that waits */
  record(
    { row }: { readonly row: ObjectRow },
    machine: Machine,
    moved: Moved & MoveOptions,
    kind: 'MOVED' | 'REQUESTED' = 'MOVED',
  ): void {
    this.changes.push({
      objectId: row.id,
      rootId: row.rootId,
      parentId: row.parentId,
      parentPath: row.parentId === null ? '' : this.#pathOf(row.parentId),
      projectId: row.projectId,
      projectName: this.#projectName,
      kind: row.kind,
      name: row.name,
      machine: machine.name,
      from: moved.from,
      to: moved.to,
      actor: moved.actor,
      by: moved.by?.name ?? null,
      byId: moved.by?.principalId ?? null,
      reason: moved.reason ?? null,
      message: moved.message ?? null,
      jobId: row.jobId,
      revision: moved.revision,
      rejected: moved.revision === null && kind !== 'REQUESTED',
      at: this.#at,
    })
  }

  /** Null: an ancestor is not in memory. */
  #pathOf(id: string): string | null {
    const known = this.#paths.get(id)
    if (known !== undefined) return known
    const row = this.#nodes.get(id)?.row
    if (!row) return null
    const above = row.parentId === null ? '' : this.#pathOf(row.parentId)
    if (above === null) return null
    const path = above === '' ? row.name : `${above}/${row.name}`
    this.#paths.set(id, path)
    return path
  }
}
