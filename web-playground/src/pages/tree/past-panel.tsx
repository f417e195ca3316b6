import { ObjectHistoryStore } from '../../data/object-history-store.ts'
import type { PastStore } from '../../data/past-store.ts'
import { humanKind } from '../../model/known.ts'
import { exactly, whoOf } from '../../model/moment.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { Phase } from '../../ui/phase.tsx'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Empty } from '../../ui/states.tsx'
import { WaySection } from './way-section.tsx'

interface Props {
  readonly id: string
  readonly at: number
  readonly past: PastStore | null
  readonly onLive: () => void
}

/** The selected object at a past moment, as the log has it, without actions. */
export function PastPanel({ id, at, past, onLive }: Props) {
  const { machines } = useSession()
  const way = useLive(id, (session, signal) => new ObjectHistoryStore(session, id, signal))
  const row = past?.model.nodes.get(id)
  const moved = way?.changes.filter((change) => !change.rejected && machines.moves(change)) ?? []
  const last = moved.findLast(({ sequence }) => sequence <= at)
  const next = moved.find(({ sequence }) => sequence > at)
  return (
    <aside className="panel" aria-label="The selected object">
      <p className="past-note">
        As it was at change {at}.{' '}
        <button type="button" onClick={onLive}>
          See it as it is now
        </button>
      </p>
      {row ? (
        <>
          <header className="panel-head">
            <h2>{row.name}</h2>
            <span className="quiet">{humanKind(row.kind)}</span>
          </header>
          <p className="panel-phase">
            <Phase phase={row.phase} /> since <time dateTime={row.phaseSince}>{dateTime(row.phaseSince)}</time>
            {next && `, for ${exactly(Date.parse(next.at) - Date.parse(row.phaseSince))}`}
          </p>
          {last && (
            <section aria-label="Phase history">
              <h3>Phase history</h3>
              <p>
                Change {last.sequence}: {last.from && `${last.from} → `}
                {last.to} by {whoOf(last)}
              </p>
              {(last.message ?? last.reason) && <p className="quiet">{last.message ?? last.reason}</p>}
            </section>
          )}
        </>
      ) : (
        past?.sequence !== null && (
          <Empty title={last?.to === 'GONE' ? 'It was gone by then.' : 'It was not there yet.'}>
            Move to another change, or select another object.
          </Empty>
        )
      )}
      <WaySection id={id} way={way} until={at} />
    </aside>
  )
}
