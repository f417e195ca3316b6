import DataLoader from 'dataloader'
import type { Pool } from 'pg'
import type { ObjectRow } from '../../core/tree.ts'
import { OutputEnds } from '../../log/output/output-end.ts'
import { type LogLineRow, type LogTail, loadLogTails } from '../../store/loaders/log-lines.ts'
import { loadObjects } from '../../store/loaders/objects.ts'
import { type ChangedObject, loadTreeChanges, type WatchedTree } from '../../store/loaders/tree-changes.ts'
import { SharedInterval } from './shared-interval.ts'

/** Lines that one read brings for one subscription. */
export const TAIL_PAGE = 500

/**
 * Loaders that poll for subscriptions. All subscriptions wait for the same interval, so their reads are one statement,
 * however many they are.
 */
export interface Live {
  readonly interval: SharedInterval
  readonly tails: DataLoader<LogTail, readonly LogLineRow[] | null>
  readonly changes: DataLoader<WatchedTree, readonly ChangedObject[]>
  /** The end of all output. */
  readonly outputEnds: OutputEnds
  /** Present rows, whatever the viewer may read; null once deleted. */
  readonly objects: DataLoader<string, ObjectRow | null>
}

export const createLive = (pool: Pool): Live => ({
  interval: new SharedInterval(),
  outputEnds: new OutputEnds(pool),
  tails: new DataLoader((tails) => loadLogTails(pool, tails, TAIL_PAGE), { cache: false }),
  changes: new DataLoader((trees) => loadTreeChanges(pool, trees), { cache: false }),
  objects: new DataLoader(
    async (ids) => {
      const found = new Map((await loadObjects(pool, ids, null)).map((row) => [row.id, row]))
      return ids.map((id) => found.get(id) ?? null)
    },
    { cache: false },
  ),
})
