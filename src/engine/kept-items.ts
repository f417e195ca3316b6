import { WORK_STATE, type Work } from '../core/tree.ts'
import type { LoadedNode } from '../store/load-nodes.ts'
import type { TreeSlice } from './slice.ts'

/** A few tens of megabytes. */
const MAX_KEPT = 10_000
/** Items whose config is larger, in JSON values and hundreds of characters, are read again. */
const MAX_CONFIG = 50
/** What nobody has asked for within so many milliseconds makes room. */
const STALE_MS = 30_000

interface Kept {
  readonly rootId: string
  readonly node: LoadedNode
  readonly at: number
}

/**
 * What this process wrote last of the items that agents have in hand, so that a claim or a report need not read them
 * again. Only a guess of what the store has: each write of an object compares its revision, and whatever was decided
 * about an item that is then not written has to be decided again. Leases are renewed without a new revision: who goes
 * by them reads.
 */
export class KeptItems {
  readonly #kept = new Map<string, Kept>()

  find(
    rootId: string,
    ids: Iterable<string>,
    isUsable: (id: string, work: Work) => boolean,
  ): ReadonlyMap<string, LoadedNode> {
    const found = new Map<string, LoadedNode>()
    for (const id of ids) {
      const kept = this.#kept.get(id)
      if (kept?.rootId === rootId && kept.node.work && isUsable(id, kept.node.work)) found.set(id, kept.node)
    }
    return found
  }

  /** The database may be another one, which has given the same revisions to other writes. */
  clear(): void {
    this.#kept.clear()
  }

  /** Trees of objects never change. */
  rootOf(id: string): string | undefined {
    return this.#kept.get(id)?.rootId
  }

  /** After the commit. */
  keep(slice: TreeSlice): void {
    const now = performance.now()
    const rootId = slice.root.row.id
    for (const { row, childCounts, work, error, hasProgress, details } of slice.nodes.values()) {
      if (!work || work.state === WORK_STATE.DONE || !isSmall(work.config)) this.#kept.delete(row.id)
      else if (this.#kept.has(row.id) || this.#hasRoom(now)) {
        const node = { row, childCounts, work, error, hasProgress, details: details as object | null }
        this.#kept.set(row.id, { rootId, node, at: now })
      }
    }
  }

  /** The oldest stay, since they are asked for first. */
  #hasRoom(now: number): boolean {
    if (this.#kept.size < MAX_KEPT) return true
    const [oldest] = this.#kept
    if (!oldest || now - oldest[1].at < STALE_MS) return false
    return this.#kept.delete(oldest[0])
  }
}

function isSmall(config: unknown): boolean {
  const open = [config]
  for (let left = MAX_CONFIG; left >= 0; left--) {
    if (open.length === 0) return true
    const value = open.pop()
    if (typeof value === 'string') left -= value.length / 100
    else if (typeof value === 'object' && value !== null) open.push(...Object.values(value))
  }
  return false
}
