import { Suspense, useCallback, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { keepChoice, readChoice } from '../../data/list-choice.ts'
import { ListStore } from '../../data/list-store.ts'
import {
  ALL_OBJECTS,
  answered,
  isWhole,
  type ListChoice,
  NEWEST,
  OBJECT_FILTER,
  type ObjectFilter,
  readFor,
  shownList,
} from '../../model/filter.ts'
import { NONE, type Selection } from '../../model/selection.ts'
import { plural } from '../../model/words.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import { createHref } from '../../ui/links.ts'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { useFilter } from '../../ui/use-filter.ts'
import { ColumnsMenu } from './columns-menu.tsx'
import { FilterBar } from './filter-bar.tsx'
import { ObjectTable } from './object-table.tsx'

// Most visits select nothing.
const BulkBar = lazyPart(() => import('./bulk-bar.tsx'))

/** Objects of all kinds; the address has the filter and the columns. */
export default function ObjectsPage() {
  const [filter, change, choose] = useList()
  useTitle('Objects')
  const shown = answered({ ...filter, order: NEWEST })
  const [chosen, setChosen] = useState<{ readonly shown: string; readonly selection: Selection }>({
    shown,
    selection: NONE,
  })
  // A selection does not outlive its list, since another one may not show it.
  const selection = chosen.shown === shown ? chosen.selection : NONE
  const [hasSelected, setHasSelected] = useState(false)
  const select = useCallback(
    (next: Selection): void => {
      setHasSelected(true)
      setChosen({ shown, selection: next })
    },
    [shown],
  )
  const list = useLive(readFor(filter), (session, signal) => new ListStore(session, filter, signal))
  return (
    <div className="page fill">
      <div className="page-head">
        <h1>Objects</h1>
        <span className="quiet" role="status">
          {list?.loaded && counted(list)}
        </span>
        <ColumnsMenu columns={filter.columns} onChange={(columns) => choose({ columns })} />
      </div>
      <FilterBar filter={filter} onChange={change} onRoots={(roots) => choose({ roots })} rows={list?.rows ?? []} />
      {list?.error && <Problem message={list.error} onRetry={list.retry} />}
      {!list?.loaded && !list?.error && <Loading what="objects" />}
      {list?.loaded && list.rows.length === 0 && <Nothing filter={filter} onChange={change} />}
      <Suspense>{hasSelected && <BulkBar list={list} selection={selection} onSelect={select} />}</Suspense>
      {list?.loaded && list.rows.length > 0 && (
        <ObjectTable list={list} filter={filter} onChange={change} selection={selection} onSelect={select} />
      )}
    </div>
  )
}

/**
 * The list as the address has it, completed by what the viewer has chosen before: then the address has that, too, so that a link to it
 * shows the same. @returns with `change`, and with `choose`, which keeps a choice for other lists as well
 */
function useList() {
  const { viewer } = useSession()
  const [asked, change] = useFilter(OBJECT_FILTER)
  const filter = shownList(asked, readChoice(viewer.id))
  useEffect(() => {
    if (OBJECT_FILTER.write(filter) !== OBJECT_FILTER.write(asked)) change(filter)
  })
  const choose = (choice: Partial<ListChoice>): void => {
    keepChoice(viewer.id, choice)
    change({ ...filter, ...choice })
  }
  return [filter, change, choose] as const
}

/** The total is that of the first read: once all pages are read, the number of rows is newer. */
const counted = ({ rows, complete, total }: ListStore): string =>
  complete
    ? plural(rows.length, 'object')
    : `${rows.length.toLocaleString('en')} of ${Math.max(total ?? 0, rows.length).toLocaleString('en')} read`

interface NothingProps {
  readonly filter: ObjectFilter
  readonly onChange: (filter: ObjectFilter) => void
}
function Nothing({ filter, onChange }: NothingProps) {
  if (isWhole(filter) && filter.project === '') {
    return (
      <Empty title="There are no objects yet.">
        <Link href={createHref()}>Create something</Link>, or apply a manifest with{' '}
        <code>phaseline apply -f my.yaml</code>: it appears here at once.
      </Empty>
    )
  }
  return (
    <Empty title="Nothing matches.">
      {filter.roots && (
        <button type="button" onClick={() => onChange({ ...filter, roots: false })}>
          Search inside trees, too
        </button>
      )}
      <button type="button" onClick={() => onChange({ ...ALL_OBJECTS, roots: false })}>
        Show all objects
      </button>
    </Empty>
  )
}
