import type { Node, Slice } from '../../../core/tree.ts'
import type { SkipReason } from './plan-firings.ts'

/** Reasons of changes of a schedule in its phase, by which notification rules select them. */
export type RecordedReason = SkipReason | 'LATE' | 'OVERDUE' | 'REFUSED' | 'FORBIDDEN'

/** Requests of the dispatcher, which decides about firings without the lock of the schedule. */
export type ScheduleWake =
  /** Records what has become of a firing. */
  | { readonly record: { readonly reason: RecordedReason; readonly message: string } }
  /** Something has succeeded. */
  | { readonly overdueAt: string }

export function onWake(node: Node, reason: string, slice: Slice): void {
  // Others only have the rules run.
  if (!reason.startsWith('{')) return
  const wake = JSON.parse(reason) as ScheduleWake
  if ('record' in wake) slice.move(node, node.row.phase, wake.record)
  else if (node.row.phase === 'ACTIVE') slice.setDetails(node, { overdueAt: new Date(wake.overdueAt) })
}

/** When a schedule is OVERDUE if nothing succeeds from now on; null: never. */
export const overdueFrom = (
  { successWithinSeconds = null }: { readonly successWithinSeconds?: number | null },
  now: Date,
): Date | null => (successWithinSeconds === null ? null : new Date(now.getTime() + successWithinSeconds * 1_000))
