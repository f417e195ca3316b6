import { LogStore } from '../../data/log-store.ts'
import { LOG_FILTER, type LogFilter } from '../../model/log-filter.ts'
import { plural } from '../../model/words.ts'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { useFilter } from '../../ui/use-filter.ts'
import { LogFilters } from './log-filters.tsx'
import { LogRows } from './log-rows.tsx'

/** Every phase change and every refused request, the newest first; the address has the filter. */
export default function LogPage() {
  useTitle('Log')
  const [filter, change] = useFilter(LOG_FILTER)
  const store = useLive(LOG_FILTER.write(filter), (session, signal) => new LogStore(session, filter, signal))
  const rows = store?.log.shown ?? []
  return (
    <div className="page fill">
      <div className="page-head">
        <h1>Log</h1>
        <span className="quiet" role="status">
          {store?.loaded && shownOf(store)}
        </span>
      </div>
      <LogFilters filter={filter} onChange={change}>
        {store && <PauseButton store={store} />}
      </LogFilters>
      {store?.error && <Problem message={store.error} />}
      {!store?.loaded && !store?.error && rows.length === 0 && <Loading what="the log" />}
      {store?.loaded && rows.length === 0 && <Nothing store={store} filter={filter} onChange={change} />}
      {rows.length > 0 && <LogRows rows={rows}>{store && <Older store={store} />}</LogRows>}
    </div>
  )
}

const shownOf = ({ log, hasOlder }: LogStore): string =>
  `${plural(log.shown.length, 'change')} shown${hasOlder ? ', older ones not read yet' : ''}`

function PauseButton({ store }: { readonly store: LogStore }) {
  const { paused, held } = store.log
  return (
    <button type="button" aria-pressed={paused} onClick={paused ? store.resume : store.pause}>
      {paused ? `Go on${held.length > 0 ? ` (${held.length.toLocaleString('en')} waiting)` : ''}` : 'Pause'}
    </button>
  )
}

interface NothingProps {
  readonly store: LogStore
  readonly filter: LogFilter
  readonly onChange: (filter: LogFilter) => void
}
/** Nothing matches only if the whole log was searched. */
function Nothing({ store, filter, onChange }: NothingProps) {
  if (store.searching || store.hasOlder) {
    return (
      <Empty title={store.searching ? 'Searching…' : 'Nothing found yet.'}>
        The newest changes do not match. <Older store={store} />
      </Empty>
    )
  }
  if (LOG_FILTER.write(filter) === '') {
    return <Empty title="Nothing has happened yet.">Create something: each of its phases appears here.</Empty>
  }
  return (
    <Empty title="Nothing matches.">
      <button type="button" onClick={() => onChange(LOG_FILTER.all)}>
        Show the whole log
      </button>
    </Empty>
  )
}

function Older({ store }: { readonly store: LogStore }) {
  if (!store.hasOlder) return null
  if (store.isFull) return <span className="quiet">Older changes have no room here: narrow the search.</span>
  return (
    <button type="button" onClick={store.readOlder} disabled={store.searching}>
      {store.searching ? 'Reading…' : 'Show older changes'}
    </button>
  )
}
