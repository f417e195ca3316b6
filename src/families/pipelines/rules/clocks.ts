import type { TimeoutDefaults, Work } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'

/** Timeouts of workers and jobs. */
export interface Clock {
  readonly name: 'pickup' | 'attempt' | 'timeout' | 'lost' | 'removal'
  readonly since: Date
  readonly expiresAt: Date
  /** The transition at that time; null: none. */
  readonly to: Phase | null
}

/** The effect of their ends, for people. */
export const CLOCK_MESSAGES: Readonly<Record<Clock['name'], string>> = {
  pickup: 'It fails if no runtime has begun it by then.',
  attempt: 'This attempt is stopped if it still runs then.',
  timeout: 'It is stopped if it has not ended by then.',
  lost: 'It counts as lost if its runtime has not come back by then.',
  removal: 'It has ended. Its process, secrets and workspace are removed from then on; its output and artifacts stay.',
}

export interface Timed {
  readonly phase: Phase
  readonly phaseSince: Date
  readonly work: Pick<Work, 'action' | 'triggeredAt' | 'pickedUpAt' | 'progressingMs'> | null
  /** The first claim of all attempts. */
  readonly startedAt: Date | null
  /** The longest that an attempt takes; null: no bound of its own. */
  readonly attemptMs: number | null
  /** When its resources are removed, unless they already are. */
  readonly removal: { readonly since: Date; readonly at: Date } | null
}

/** The earliest comes first. */
export function clocksOf(
  { phase, phaseSince, work, startedAt, attemptMs, removal }: Timed,
  timeouts: TimeoutDefaults,
): readonly Clock[] {
  const clocks: Clock[] = []
  const run = (name: Clock['name'], since: Date, ms: number, to: Phase | null) =>
    clocks.push({ name, since, expiresAt: new Date(since.getTime() + ms), to })
  const begunAt = startedAt ?? work?.pickedUpAt ?? null
  const isBetweenAttempts = phase === 'PENDING'
  if (begunAt && work && work.progressingMs !== null && (work.action === 'START' || isBetweenAttempts))
    run('timeout', begunAt, work.progressingMs, 'TIMED_OUT')
  if (work?.action === 'START' && !isBetweenAttempts) {
    if (work.pickedUpAt === null) run('pickup', work.triggeredAt, timeouts.pickupMs, 'SCHEDULING_FAILED')
    else if (attemptMs !== null) run('attempt', work.pickedUpAt, attemptMs, null)
    if (phase === 'UNKNOWN') run('lost', phaseSince, timeouts.runtimeLostMs, 'FAILED')
  }
  if (removal) run('removal', removal.since, removal.at.getTime() - removal.since.getTime(), null)
  return clocks.sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime())
}
