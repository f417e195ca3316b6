import { WORK_STATE, type Work } from '../../core/tree.ts'
import type { LoadedNode } from '../../store/load-nodes.ts'
import type { TreeSlice } from '../slice/tree-slice.ts'

/** A few tens of megabytes. */
const MAX_ITEMS = 10_000
/** Items with a larger config, in JSON values and hundreds of characters, are not remembered. */
const MAX_CONFIG = 50
/** An item that nobody has asked for within so many milliseconds makes room. */
const STALE_MS = 30_000

interface CachedItem {
  readonly rootId: string
  readonly node: LoadedNode
  readonly at: number
}

/**
 * The last state that this process has written of items with open work, so that a claim or a report need not read them
 * again. It is only a guess of what the store has: each write of an object compares its revision, and a decision about
 * an item that is then not written is made again. A lease is renewed without a new revision, so whoever depends on a
 * lease reads it.
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

  /** Another database may have given the same revisions to other writes. */
  clear(): void {
    this.#items.clear()
  }

  /** An object never changes its tree. */
  rootOf(id: string): string | undefined {
    return this.#items.get(id)?.rootId
  }

  /** To be called after the commit. */
  keep(slice: TreeSlice): void {
    const now = performance.now()
    const rootId = slice.root.row.id
    for (const { row, childCounts, work, error, hasProgress, details } of slice.nodes.values()) {
      if (!work || work.state === WORK_STATE.DONE || !isSmall(work.config)) this.#items.delete(row.id)
      else if (this.#items.has(row.id) || this.#hasRoom(now)) {
        const node = { row, childCounts, work, error, hasProgress, details: details as object | null }
        this.#items.set(row.id, { rootId, node, at: now })
      }
    }
  }

  /** The oldest come first in a map. */
  #hasRoom(now: number): boolean {
    if (this.#items.size < MAX_ITEMS) return true
    const [oldest] = this.#items
    if (!oldest || now - oldest[1].at < STALE_MS) return false
    return this.#items.delete(oldest[0])
  }
}

function isSmall(config: unknown): boolean {
  const open = [config]
  for (let room = MAX_CONFIG; room >= 0; room--) {
    if (open.length === 0) return true
    const value = open.pop()
    if (typeof value === 'string') room -= value.length / 100
    else if (typeof value === 'object' && value !== null) open.push(...Object.values(value))
  }
  return false
}
