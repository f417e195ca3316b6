import type { TimeoutDefaults, Work } from '../../core/tree.ts'
import type { Phase } from '../../core/vocabulary.ts'

/** The clocks that run for a worker or a job. */
export interface Clock {
  readonly name: 'pickup' | 'timeout' | 'lost' | 'removal'
  readonly since: Date
  readonly expiresAt: Date
  /** What happens then; null: it stays in its phase. */
  readonly to: Phase | null
}

export interface Timed {
  readonly phase: Phase
  readonly phaseSince: Date
  readonly work: Pick<Work, 'action' | 'triggeredAt' | 'pickedUpAt' | 'progressingMs'> | null
  /** When its resources are removed, if they are not yet. */
  readonly removal: { readonly since: Date; readonly at: Date } | null
}

/** The one that runs out first comes first. */
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
