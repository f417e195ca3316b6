import type { PhaseChange } from 'phaseline/client'
import { Link } from 'wouter'
import type { ObjectHistoryStore } from '../../data/object-history-store.ts'
import { whoOf } from '../../model/moment.ts'
import { isRequest } from '../../model/object.ts'
import { plural } from '../../model/words.ts'
import { clockTime, recentTime } from '../../ui/exact-time.ts'
import { wayHref } from '../../ui/links.ts'
import { Phase } from '../../ui/phase.tsx'
import { Problem } from '../../ui/states.tsx'
import { useObjectHref } from './use-object-href.ts'

/** The most changes that are listed; the page of its machine has all that were read. */
const LISTED = 12

interface Props {
  readonly id: string
  readonly way: ObjectHistoryStore | null
  /** Only changes up to this sequence. */
  readonly until?: number
}

/** The object's changes, the newest first; each line leads to that moment of the tree. */
export function WaySection({ id, way, until = Number.POSITIVE_INFINITY }: Props) {
  const changes = way?.changes.filter(({ sequence }) => sequence <= until) ?? []
  if (!way?.loaded && !way?.error) return null
  const more = changes.length - LISTED
  return (
    <section aria-label="Its changes">
      <h3>
        Its changes{' '}
        <Link className="way-link" href={wayHref(id)}>
          State machine
        </Link>
      </h3>
      {way.error && <Problem message={way.error} />}
      {way.loaded && changes.length === 0 && <p className="quiet">None yet, or the log is pruned.</p>}
      <ol className="way-list">
        {changes
          .slice(-LISTED)
          .toReversed()
          .map((change) => (
            <WayItem key={change.sequence} change={change} />
          ))}
      </ol>
      {more > 0 && <p className="quiet">{plural(more, 'change')} before</p>}
    </section>
  )
}

function WayItem({ change }: { readonly change: PhaseChange }) {
  const { sequence, rootId, objectId, at, to, rejected, reason, message } = change
  const href = useObjectHref()
  return (
    <li className={rejected ? 'refused' : undefined}>
      <Link href={href(rootId, objectId, sequence)} title="The tree at that moment">
        <time dateTime={at}>{recentTime(at, clockTime)}</time>
      </Link>{' '}
      {rejected && <b className="reason">refused</b>}
      {isRequest(change) ? <b className="reason is-waiting">{reason}</b> : <Phase phase={to} />}{' '}
      <span className="quiet">
        {whoOf(change)}
        {(message ?? reason) && `: ${message ?? reason}`}
      </span>
    </li>
  )
}
