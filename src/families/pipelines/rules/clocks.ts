import type { TimeoutDefaults, Work } from '../../../core/tree.ts'
import type { Phase } from '../../../core/vocabulary.ts'

/** Timeouts of workers and jobs. */
export interface Clock {
  readonly name: 'pickup' | 'timeout' | 'lost' | 'removal'
  readonly since: Date
  readonly expiresAt: Date
  /** The transition at that time; null: none. */
  readonly to: Phase | null
}

export interface Timed {
  readonly phase: Phase
  readonly phaseSince: Date
  readonly work: Pick<Work, 'action' | 'triggeredAt' | 'pickedUpAt' | 'progressingMs'> | null
  /** When its resources are removed, unless they already are. */
  readonly removal: { readonly since: Date; readonly at: Date } | null
}

/** The earliest comes first. */
export function clocksOf({ phase, phaseSince, work, removal }: Timed, timeouts: TimeoutDefaults): readonly Clock[] {
  const clocks: Clock[] = []
  const run = (name: Clock['name'], since: Date, ms: number, to: Phase | null) =>
    clocks.push({ name, since, expiresAt: new Date(since.getTime() + ms), to })
  if (work?.action === 'START') {
    if (work.pickedUpAt === null) run('pickup', work.triggeredAt, timeouts.pickupMs, 'SCHEDULING_FAILED')
    else if (work.progressingMs !== null) run('timeout', work.pickedUpAt, work.progressingMs, 'TIMED_OUT')
    if (phase === 'UNKNOWN') run('lost', phaseSince, timeouts.runtimeLostMs, 'FAILED')
  }
  if (removal) run('removal', removal.since, removal.at.getTime() - removal.since.getTime(), null)
  return clocks.sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime())
}
