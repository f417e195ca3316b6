import type { Node, Slice } from '../../../core/tree.ts'
import { jitterOf, nextDue, passed } from '../../when.ts'
import { BY_TIME, type PlannedFiring, planFirings, skippedTogether } from './plan-firings.ts'
import { NEW_SCHEDULE, type ScheduleDetails, type ScheduleSpec } from './spec.ts'
import { durationInWords } from './times-in-words.ts'

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    writeFirings: { readonly scheduleId: string; readonly firings: readonly NewFiring[] }
  }
}

export const details = (node: Node): ScheduleDetails => (node.details as ScheduleDetails | null) ?? NEW_SCHEDULE

/** A firing with its id, for the effect that writes it. */
export type NewFiring = PlannedFiring & { readonly id: string }

export function decideSchedule(node: Node, slice: Slice): void {
  if (node.row.phase !== 'ACTIVE' || !details(node).due) return slice.setClock(node, null)
  const spec = slice.spec(node) as ScheduleSpec | undefined
  if (!spec) return
  const { overdueAt } = details(node)
  if (overdueAt && overdueAt <= slice.now) {
    const message = `Nothing has succeeded for ${durationInWords((spec.successWithinSeconds ?? 0) * 1_000)}.`
    slice.move(node, 'ACTIVE', { reason: 'OVERDUE', message })
    slice.setDetails(node, { overdueAt: null })
  }
  advance(node, slice, spec)
}

/** Decides about the times that have come. A command calls it before it changes the spec under which they came. */
export function advance(node: Node, slice: Slice, spec: ScheduleSpec): void {
  const { due, firedCount } = details(node)
  if (node.row.phase !== 'ACTIVE' || !due) return
  const plan = planFirings(spec, { id: node.row.id, due, firedCount }, slice.now)
  if (plan.firings.length > 0) {
    writeFirings(node, slice, plan.firings)
    for (const firing of plan.firings) {
      const lateMs = slice.now.getTime() - firing.due.getTime() - jitterOf(node.row.id, firing.due, spec.jitterMs)
      const isLate = firing.skipped === null && lateMs > spec.graceMs
      const message = `${messageOf(firing)}${isLate ? ` It is ${Math.round(lateMs / 1_000)} s late.` : ''}`
      slice.move(node, 'ACTIVE', { reason: firing.skipped ?? (isLate ? 'LATE' : null), message })
    }
  }
  if (plan.firings.length > 0 || plan.next === null) {
    const fired = plan.firings.filter(({ skipped, cause }) => skipped === null && cause === BY_TIME)
    const last = plan.firings.at(-1)
    const lastDue = last ? (last.lastDue ?? last.due) : due
    slice.setDetails(node, { due: plan.next, lastDue, firedCount: firedCount + fired.length })
  }
  if (plan.next === null) {
    slice.setDetails(node, { overdueAt: null })
    slice.move(node, 'FINISHED')
  }
  slice.setClock(node, earlier(plan.wakeAt, details(node).overdueAt))
}

/** When the rules of a schedule run next. */
export const earlier = (wakeAt: Date | null, overdueAt: Date | null): Date | null =>
  wakeAt && overdueAt && overdueAt < wakeAt ? overdueAt : wakeAt

export function writeFirings(node: Node, slice: Slice, firings: readonly PlannedFiring[]): void {
  const written = firings.map((firing): NewFiring => ({ ...firing, id: slice.newId() }))
  slice.effect('writeFirings', { scheduleId: node.row.id, firings: written })
}

/** A pause begins: a time that has come and is only delayed is skipped, and the times from now on are counted. */
export function beginPause(node: Node, slice: Slice): void {
  const { due } = details(node)
  if (due && due <= slice.now) writeFirings(node, slice, [skippedTogether([due], 'PAUSED', true)])
  slice.setDetails(node, { due: null, lastDue: slice.now, overdueAt: null })
}

/** The times that have passed since it was paused: they are never caught up. */
export function endPause(node: Node, slice: Slice, spec: ScheduleSpec): void {
  const { times, isComplete } = passed(spec, details(node).lastDue ?? node.row.phaseSince, slice.now, 1)
  if (times.length > 0) writeFirings(node, slice, [skippedTogether(times, 'PAUSED', isComplete)])
  slice.setDetails(node, { lastDue: slice.now })
}

/**
 * The next time of an edited or resumed schedule: never one that is not after the last one. A time that has come, and whose
 * firing is only delayed, may stay.
 */
export function dueAfter(spec: ScheduleSpec, { due, lastDue, firedCount }: ScheduleDetails, now: Date): Date | null {
  if (spec.count !== null && firedCount >= spec.count) return null
  const from = due && due <= now ? due.getTime() - 1 : now.getTime()
  return nextDue(spec, new Date(Math.max(from, lastDue?.getTime() ?? 0)))
}

function messageOf({ due, lastDue, count, skipped }: PlannedFiring): string {
  const times = lastDue ? `${due.toISOString()} to ${lastDue.toISOString()}` : due.toISOString()
  if (skipped === null) return `Fires for ${times}.`
  return `Skips ${count === null ? 'more times than are counted' : `${count} ${count === 1 ? 'time' : 'times'}`}: ${times}.`
}
