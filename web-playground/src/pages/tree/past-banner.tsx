import type { HistoryStore } from '../../data/history-store.ts'
import type { PastStore } from '../../data/past-store.ts'
import { whoOf } from '../../model/moment.ts'
import { creationAfter } from '../../model/timeline.ts'
import { exactTime } from '../../ui/exact-time.ts'
import { Problem } from '../../ui/states.tsx'
import { Created } from './created.tsx'

interface Props {
  readonly at: number
  readonly history: HistoryStore
  readonly past: PastStore | null
}

/** Says that the page shows the past, and which change was the last one. */
export function PastBanner({ at, history, past }: Props) {
  const change = history.timeline.changes[history.timeline.indexAt(at)]
  const created = creationAfter(history.timeline, at)
  return (
    <div className="past-banner">
      <p role="status">
        <b className="past-badge">Past</b> <b>As it was</b>{' '}
        {change ? (
          <>
            at <time dateTime={change.at}>{exactTime(change.at)}</time>, change {change.sequence}:{' '}
            {change.rejected && <b className="reason">refused</b>} <b>{change.name}</b>{' '}
            {change.from && `${change.from} → `}
            {change.to} by {whoOf(change)}
            {(change.message ?? change.reason) && ` (${change.message ?? change.reason})`}
          </>
        ) : (
          <>
            at change {at}
            {created && ', before there was this tree. '}
            {created && <Created {...created} />}
          </>
        )}
      </p>
      {past?.error && <Problem message={past.error} onRetry={past.retry} />}
    </div>
  )
}
