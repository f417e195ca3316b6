import { WORK_STATE, type Work } from '../../core/tree.ts'
import type { LoadedNode } from '../../store/load-nodes.ts'
import type { TreeSlice } from '../slice/tree-slice.ts'
import type { TrackedObject } from '../tracked-object.ts'

/** Bounds the cache to a few tens of megabytes. */
const MAX_ITEMS = 10_000
/** Items with a larger config, in JSON values and hundreds of characters, are not cached. */
const MAX_CONFIG = 50
/** An item that was not written for this time, in milliseconds, may be evicted. */
const STALE_MS = 30_000

interface CachedItem {
  readonly rootId: string
  readonly node: LoadedNode
  readonly at: number
}

/**
 * Keeps the last state that this process wrote of items with open work, so that a claim or a report need not read them.
 * An entry is only a guess of the stored state: each write of an object compares its revision, and a decision about an
 * item that is not written is repeated. Renewing a lease makes no revision, so a decision that depends on a lease reads it.
 */
export class WorkCache {
  readonly #items = new Map<string, CachedItem>()

  find(
    rootId: string,
    ids: Iterable<string>,
    isUsable: (id: string, work: Work) => boolean,
  ): ReadonlyMap<string, LoadedNode> {
    const found = new Map<string, LoadedNode>()
    for (const id of ids) {
      const item = this.#items.get(id)
      if (item?.rootId === rootId && item.node.work && isUsable(id, item.node.work)) found.set(id, item.node)
    }
    return found
  }

  /** The root, while work of its tree is cached. The lock of the tree shows whether it still has the revision. */
  root(rootId: string): LoadedNode | undefined {
    return this.#items.get(rootId)?.node
  }

  /** Another copy of the database may have the same revisions for other writes. */
  clear(): void {
    this.#items.clear()
  }

  /** Never stale, since an object never changes its tree. */
  rootOf(id: string): string | undefined {
    return this.#items.get(id)?.rootId
  }

  /**
   * Called after the commit.
   * @param keepsRoot the revision of the root says whether anything of it has changed
   */
  keep(slice: TreeSlice, keepsRoot: boolean): void {
    const { root } = slice
    const rootId = root.row.id
    for (const id of slice.gone) this.#items.delete(id)
    let isOpen = false
    for (const tracked of slice.nodes.values()) {
      const { row, work } = tracked
      const isKept = work && work.state !== WORK_STATE.DONE && isSmall(work.config) && this.#set(rootId, tracked)
      if (isKept) isOpen = true
      else this.#items.delete(row.id)
    }
    if (keepsRoot && isOpen && !root.work && isSmall(root.details)) this.#set(rootId, root)
  }

  /** False: there is no room. */
  #set(rootId: string, { row, childCounts, work, error, hasProgress, clock, details }: TrackedObject): boolean {
    const now = performance.now()
    if (!this.#items.has(row.id) && !this.#hasRoom(now)) return false
    const node = { row, childCounts, work, error, hasProgress, clock, details: details as object | null }
    this.#items.set(row.id, { rootId, node, at: now })
    return true
  }

  /** A map keeps the order of insertion, so its first entry is the oldest. */
  #hasRoom(now: number): boolean {
    if (this.#items.size < MAX_ITEMS) return true
    const [oldest] = this.#items
    if (!oldest || now - oldest[1].at < STALE_MS) return false
    return this.#items.delete(oldest[0])
  }
}

function isSmall(config: unknown): boolean {
  const open = [config]
  for (let remaining = MAX_CONFIG; remaining >= 0; remaining--) {
    if (open.length === 0) return true
    const value = open.pop()
    if (typeof value === 'string') remaining -= value.length / 100
    else if (typeof value === 'object' && value !== null) open.push(...Object.values(value))
  }
  return false
}
