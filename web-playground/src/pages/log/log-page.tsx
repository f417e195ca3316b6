import { useVirtualizer } from '@tanstack/react-virtual'
import type { PhaseChange } from 'phaseline/client'
import { useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import { LogStore } from '../../data/log-store.ts'
import { classOf, humanKind, knownFamilies } from '../../model/known.ts'
import { filterLog, type LogFilter, WHOLE_LOG } from '../../model/log-buffer.ts'
import { PHASE_CLASSES, SYMBOLS, WORDS } from '../../model/phases.ts'
import { clockOf, plural } from '../../model/words.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { treeHref } from '../../ui/links.ts'
import { Phase } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'

/** Every phase change and every refused request, the newest first. */
export default function LogPage() {
  useTitle('Log')
  const store = useLive('log', (session, signal) => new LogStore(session, signal))
  const [filter, setFilter] = useState<LogFilter>(WHOLE_LOG)
  const shown = store?.log.shown
  const rows = useMemo(() => filterLog(shown ?? [], filter, classOf), [shown, filter])
  return (
    <div className="page fill">
      <div className="page-head">
        <h1>Log</h1>
        <span className="quiet" role="status">
          {store?.loaded && `${plural(rows.length, 'change')} shown`}
          {store && store.log.dropped > 0 && `, ${plural(store.log.dropped, 'older one')} not kept here`}
        </span>
      </div>
      <LogFilters filter={filter} onChange={setFilter} store={store} />
      {store?.error && <Problem message={store.error} />}
      {!store?.loaded && !store?.error && <Loading what="the log" />}
      {store?.loaded && rows.length === 0 && (
        <Empty title={shown?.length === 0 ? 'Nothing has happened yet.' : 'Nothing matches.'}>
          {shown?.length === 0 ? 'Create something: each of its phases appears here.' : 'Change the filters above.'}
        </Empty>
      )}
      {rows.length > 0 && <LogRows rows={rows} />}
    </div>
  )
}

interface FiltersProps {
  readonly filter: LogFilter
  readonly onChange: (filter: LogFilter) => void
  readonly store: LogStore | null
}
function LogFilters({ filter, onChange, store }: FiltersProps) {
  const waiting = store?.log.held.length ?? 0
  return (
    <search className="filters">
      <label className="grow">
        <span>Search</span>
        <input
          type="search"
          value={filter.text}
          placeholder="name, phase, actor, reason…"
          onChange={({ target }) => onChange({ ...filter, text: target.value })}
        />
      </label>
      <label>
        <span>Kind</span>
        <select
          value={filter.kinds[0] ?? ''}
          onChange={({ target }) => onChange({ ...filter, kinds: target.value ? [target.value] : [] })}
        >
          <option value="">All</option>
          {knownFamilies()
            .flatMap(({ kinds }) => kinds)
            .map(({ kind }) => (
              <option key={kind} value={kind}>
                {humanKind(kind)}
              </option>
            ))}
        </select>
      </label>
      <label>
        <span>Became</span>
        <select
          value={filter.classes[0] ?? ''}
          onChange={({ target }) => onChange({ ...filter, classes: target.value ? [target.value] : [] })}
        >
          <option value="">Anything</option>
          {PHASE_CLASSES.map((name) => (
            <option key={name} value={name}>
              {SYMBOLS[name]} {WORDS[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Requests</span>
        <select
          value={filter.rejected}
          onChange={({ target }) => {
            const { value } = target
            onChange({ ...filter, rejected: value === 'only' || value === 'none' ? value : 'all' })
          }}
        >
          <option value="all">All</option>
          <option value="none">Not refused</option>
          <option value="only">Refused only</option>
        </select>
      </label>
      {store && (
        <button type="button" aria-pressed={store.log.paused} onClick={store.log.paused ? store.resume : store.pause}>
          {store.log.paused ? `Go on${waiting > 0 ? ` (${waiting.toLocaleString('en')} waiting)` : ''}` : 'Pause'}
        </button>
      )}
    </search>
  )
}

const ROW_PX = 40
const NARROW_ROW_PX = 60

function LogRows({ rows }: { readonly rows: readonly PhaseChange[] }) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (matchMedia('(max-width: 700px)').matches ? NARROW_ROW_PX : ROW_PX),
    overscan: 10,
    getItemKey: (index) => rows[index]?.sequence ?? index,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div className="log-body" ref={scroller} tabIndex={0}>
      <ol className="grid-space" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const change = rows[index]
          return change && <LogRow key={key} change={change} start={start} />
        })}
      </ol>
    </div>
  )
}

function LogRow({ change, start }: { readonly change: PhaseChange; readonly start: number }) {
  const { sequence, at, kind, name, rootId, objectId, from, to, actor, by, reason, message, rejected } = change
  return (
    <li
      className={`log-row${rejected ? ' rejected' : ''}`}
      data-sequence={sequence}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span className="log-sequence">{sequence}</span>
      <time dateTime={at} title={dateTime(at)}>
        {clockOf(at)}
      </time>
      <span className="log-what">
        <Link href={treeHref(rootId, objectId)}>{name}</Link> <span className="quiet">{humanKind(kind)}</span>
      </span>
      <span className="log-phases">
        {from && <span className="quiet">{from} → </span>}
        {to === 'GONE' ? <span className="phase is-removing">GONE</span> : <Phase phase={to} />}
      </span>
      <span className="log-why" title={message ?? reason ?? ''}>
        {rejected && <b className="reason">refused</b>} {message ?? reason}{' '}
        <span className="quiet">
          {actor}
          {by ? ` ${by}` : ''}
        </span>
      </span>
    </li>
  )
}
