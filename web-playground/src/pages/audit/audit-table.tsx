import { Link } from 'wouter'
import type { AuditEvent } from '../../data/audit-store.ts'
import { type AuditFilter, aboutOf, type Outcome } from '../../model/audit.ts'
import { humanKind, isKnownKind } from '../../model/known.ts'
import { clockOf } from '../../model/words.ts'
import { shortDay, zonedTime } from '../../ui/exact-time.ts'
import { auditHref, projectHref, wayHref } from '../../ui/links.ts'
import { RowsHead } from '../../ui/rows-head.tsx'

const COLUMNS = ['#', 'Time', 'Outcome', 'Principal', 'Operation', 'About', 'From'] as const

interface Props {
  readonly events: readonly AuditEvent[]
  readonly paths: ReadonlyMap<string, string>
  readonly filter: AuditFilter
}

export function AuditTable({ events, paths, filter }: Props) {
  return (
    <div className="audit">
      <RowsHead titles={COLUMNS} />
      <ol aria-label="Events">
        {events.map((event) => (
          <Row key={event.sequence} event={event} paths={paths} filter={filter} />
        ))}
      </ol>
    </div>
  )
}

const LOOKS: Readonly<Record<Outcome, { readonly style: string; readonly symbol: string; readonly word: string }>> = {
  DONE: { style: 'is-done', symbol: '✓', word: 'done' },
  REFUSED: { style: 'is-stopped', symbol: '⊘', word: 'refused' },
  FAILED: { style: 'is-failed', symbol: '✗', word: 'failed' },
}

type RowProps = Omit<Props, 'events'> & { readonly event: AuditEvent }

function Row({ event, paths, filter }: RowProps) {
  const { sequence, at, outcome, code, operation, count, fields, principalId, principalName, address, requestId } =
    event
  const { style, symbol, word } = LOOKS[outcome]
  return (
    <li className="audit-row" data-sequence={sequence} data-outcome={outcome}>
      <span className="audit-sequence">{sequence}</span>
      <time dateTime={at} title={zonedTime(at)}>
        {shortDay(at)} {clockOf(at).replace(/\.\d+$/, '')}
      </time>
      <span className={`phase ${style}`} title={code ?? ''}>
        <span aria-hidden="true">{symbol}</span> {word}
      </span>
      <span>
        {principalId ? (
          <Link href={auditHref({ ...filter, principal: principalId })}>{principalName}</Link>
        ) : (
          <span className="quiet">{outcome === 'DONE' ? 'the server' : 'nobody known'}</span>
        )}
      </span>
      <span className="audit-what">
        <Link href={auditHref({ ...filter, operation })}>{operation}</Link>{' '}
        {count > 1 && <b>{count.toLocaleString('en')}×</b>} {code && <code>{code}</code>}
      </span>
      <span className="audit-about">
        <About event={event} paths={paths} />
      </span>
      <span className="audit-from quiet" title={requestId ? `Request ${requestId}` : ''}>
        {address && <span>{address}</span>}{' '}
        {fields.length > 0 && <span title="What the request gave">{fields.join(', ')}</span>}
      </span>
    </li>
  )
}

/** The event's subject, with a link to its page if it has one. */
function About({ event, paths }: Pick<RowProps, 'event' | 'paths'>) {
  const { kind, name } = aboutOf(event, paths)
  const { objectId, objectKind, projectName, objectName } = event
  if (!name) return null
  const project = objectKind === 'PROJECT' ? objectName : projectName
  const href = objectId && isKnownKind(kind) ? wayHref(objectId) : project && projectHref(project)
  return (
    <>
      {href ? <Link href={href}>{name}</Link> : name} {kind && <span className="quiet">{humanKind(kind)}</span>}
    </>
  )
}
