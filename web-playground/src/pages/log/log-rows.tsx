import { useVirtualizer } from '@tanstack/react-virtual'
import type { PhaseChange } from 'phaseline/client'
import { type ReactNode, useRef } from 'react'
import { Link } from 'wouter'
import { humanKind } from '../../model/known.ts'
import { isRequest } from '../../model/object.ts'
import { clockOf } from '../../model/words.ts'
import { recentTime, zonedTime } from '../../ui/exact-time.ts'
import { treeHref } from '../../ui/links.ts'
import { Phase } from '../../ui/phase.tsx'
import { rowHeight } from '../../ui/row-height.ts'
import { RowsHead } from '../../ui/rows-head.tsx'

const COLUMNS = ['#', 'Time', 'Object', 'Phase', 'Reason'] as const

interface Props {
  readonly rows: readonly PhaseChange[]
  /** Content below the last row. */
  readonly children: ReactNode
}
export function LogRows({ rows, children }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: rowHeight,
    overscan: 10,
    getItemKey: (index) => rows[index]?.sequence ?? index,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div className="log-body" ref={scroller} tabIndex={0}>
      <RowsHead titles={COLUMNS} />
      <ol className="grid-space" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const change = rows[index]
          return change && <LogRow key={key} change={change} start={start} />
        })}
      </ol>
      <p className="log-more">{children}</p>
    </div>
  )
}

function LogRow({ change, start }: { readonly change: PhaseChange; readonly start: number }) {
  const { sequence, at, kind, rootId, objectId, from, to, actor, by, reason, message, rejected } = change
  const asked = isRequest(change)
  return (
    <li
      className={`log-row${rejected ? ' rejected' : ''}`}
      data-sequence={sequence}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span className="log-sequence">{sequence}</span>
      <time dateTime={at} title={zonedTime(at)}>
        {recentTime(at, clockOf)}
      </time>
      <LogPlace change={change} href={treeHref(rootId, objectId)} kind={humanKind(kind)} />
      <span className="log-phases">
        {from && !asked && <span className="quiet">{from} → </span>}
        {to === 'GONE' ? <span className="phase is-removing">GONE</span> : <Phase phase={to} />}
      </span>
      <span className="log-why" title={message ?? reason ?? ''}>
        {rejected && <b className="reason">refused</b>}
        {asked && <b className="reason is-waiting">{reason}</b>} {message ?? reason}{' '}
        <span className="quiet">
          {actor}
          {by ? ` ${by}` : ''}
        </span>
      </span>
    </li>
  )
}

interface PlaceProps {
  readonly change: PhaseChange
  readonly href: string
  readonly kind: string
}
/** The path as commands take it. Its end distinguishes objects, so the beginning is cut when space is short. */
function LogPlace({ change: { projectName, path }, href, kind }: PlaceProps) {
  const place = `${projectName}/${path}`
  return (
    <span className="log-what" title={`${place} (${kind})`}>
      <Link href={href} className="log-place">
        <bdi>{place}</bdi>
      </Link>
      <span className="quiet">{kind}</span>
    </span>
  )
}
