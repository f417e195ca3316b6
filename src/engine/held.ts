import type { Node } from '../core/tree.ts'
import type { LockedTree, NewRoot } from '../families/family.ts'
import type { Client } from '../store/client.ts'
import { load } from './load.ts'
import type { TreeSlice } from './slice.ts'
import { TrackedObject } from './tracked-object.ts'
import {
  type Aftermath,
  closeTree,
  type EngineParts,
  newSlice,
  type OpenTree,
  type Transaction,
  type Word,
} from './transaction.ts'

/** Lets what is touched go on as far as it can; returns ids that still want their turn. */
export type Decide = (slice: TreeSlice) => Promise<ReadonlySet<string>>

/** A tree in the hands of a mutation. */
export class Held implements LockedTree {
  readonly slice: TreeSlice
  readonly client: Client
  readonly isNew: boolean
  readonly #tree: OpenTree
  readonly #parts: EngineParts
  readonly #words: Word[] = []
  readonly #going: Node[] = []

  constructor(tree: OpenTree, parts: EngineParts, isNew = false) {
    this.#tree = tree
    this.#parts = parts
    this.slice = tree.slice
    this.client = tree.client
    this.isNew = isNew
  }

  static created(
    given: Transaction,
    parts: EngineParts,
    { project, projectId, now, root }: { project: string; projectId: string; now: Date; root: NewRoot },
  ): Held {
    const id = parts.system.id()
    const tracked = TrackedObject.fresh({
      id,
      rootId: id,
      parentId: null,
      projectId,
      kind: root.kind,
      name: root.name,
      ordinal: 0,
      phase: parts.kinds.machine(root.kind).initial,
      phaseSince: now,
      revision: 1,
      generation: 1,
      observedGeneration: 0,
      jobId: null,
      finishedJobId: null,
      deletionRequestedAt: null,
      waitingFor: 0,
      createdAt: now,
      updatedAt: now,
    })
    const slice = newSlice(parts, { projectName: project, root: tracked, now, evaluated: new Map() })
    slice.adopt(tracked, root, 'USER')
    return new Held({ ...given, slice, wakeAt: null, failures: 0 }, parts, true)
  }

  get root() {
    return this.slice.root
  }
  // Properties rather than methods: rules take what they need of a held tree apart.
  readonly load = (ids: readonly string[]): Promise<void> => load(this.client, this.slice, this.#parts.kinds, ids)
  readonly wake = (ids: readonly string[], reason: string | null = null): void => {
    this.#words.push({ rootId: this.root.row.id, ids, reason })
  }
  readonly decideNow = (node: Node = this.root): void => {
    this.#going.push(node)
  }
  readonly reject = (
    ...[node, to, by, reason, { actor = 'USER', secondary } = {}]: Parameters<LockedTree['reject']>
  ): void => {
    this.slice.reject({ node, to, actor, by, reason, secondary })
  }

  /** @param decide null: others wait, so word is left of what could go on */
  async close(decide: Decide | null): Promise<Aftermath> {
    const { slice } = this
    if (this.#going.length === 0 || !decide) {
      if (this.#going.length > 0) this.wake(this.#going.map(({ row }) => row.id))
      return closeTree(this.#tree, this.#parts, new Set(), false, this.#words)
    }
    for (const node of this.#going) slice.touch(node)
    return closeTree(this.#tree, this.#parts, await decide(slice), false, this.#words)
  }
}
