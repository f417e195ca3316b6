import DataLoader from 'dataloader'
import type { Pool } from 'pg'
import { type LogLineRow, type LogTail, loadLogTails } from '../store/loaders/log-lines.ts'
import { type ChangedObject, loadTreeChanges, type WatchedTree } from '../store/loaders/tree-changes.ts'
import { Pulse } from './pulse.ts'

/** So many lines are read for one subscription at a time. */
export const TAIL_PAGE = 500

/**
 * What is read again and again for subscriptions. They all wait for the same pulse, so what they then ask for is one
 * statement, however many they are.
 */
export interface Live {
  readonly pulse: Pulse
  readonly tails: DataLoader<LogTail, readonly LogLineRow[] | null>
  readonly changes: DataLoader<WatchedTree, readonly ChangedObject[]>
}

export const createLive = (pool: Pool): Live => ({
  pulse: new Pulse(),
  tails: new DataLoader((tails) => loadLogTails(pool, tails, TAIL_PAGE), { cache: false }),
  changes: new DataLoader((trees) => loadTreeChanges(pool, trees), { cache: false }),
})
