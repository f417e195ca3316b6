import { useCallback, useState } from 'react'
import { Link } from 'wouter'
import { AskedStore } from '../../data/asked-store.ts'
import { OUTPUT_OF } from '../../data/documents-output.ts'
import { messageOf } from '../../data/live-read.ts'
import { MOST_SAVED, OutputStore } from '../../data/output-store.ts'
import { OUTPUT_FILTER, type OutputFilter } from '../../model/output-filter.ts'
import { plural } from '../../model/words.ts'
import { treeHref } from '../../ui/links.ts'
import { saveText } from '../../ui/save-text.ts'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { useFilter } from '../../ui/use-filter.ts'
import { OutputFilters } from './output-filters.tsx'
import { type Look, OutputRows } from './output-rows.tsx'
import './output.css'

/** Output of an object, a tree, a project or everything, the oldest line first; the address has the filter and the line. */
export default function OutputPage() {
  useTitle('Output')
  const [filter, changeFilter] = useFilter(OUTPUT_FILTER)
  const store = useLive(OUTPUT_FILTER.write(filter), (session, signal) => new OutputStore(session, filter, signal))
  const [look, setLook] = useState<Look>({ wraps: true, hasTimes: true, follows: filter.line === '' })
  const change = useCallback((next: OutputFilter): void => changeFilter({ ...next, line: '' }), [changeFilter])
  const onFollow = useCallback((follows: boolean) => setLook((now) => ({ ...now, follows })), [])
  const lines = store?.lines ?? []
  return (
    <div className="page fill">
      <div className="page-head">
        <h1>Output</h1>
        <About filter={filter} onChange={change} />
        <span className="quiet" role="status">
          {store?.loaded && shownOf(store)}
        </span>
      </div>
      <OutputFilters filter={filter} look={look} onChange={change} onLook={setLook}>
        {store && lines.length > 0 && <Download store={store} />}
      </OutputFilters>
      {store?.error && <Problem message={store.error} />}
      {!store?.loaded && !store?.error && lines.length === 0 && <Loading what="the output" />}
      {store?.loaded && lines.length === 0 && <Nothing store={store} filter={filter} onChange={change} />}
      {store && lines.length > 0 && (
        <OutputRows
          {...{ store, filter, look, onFollow }}
          before={<Older store={store} />}
          after={<Newer store={store} />}
        />
      )}
    </div>
  )
}

function shownOf({ lines, hasOlder, hasNewer, live }: OutputStore): string {
  const more = [...(hasOlder ? ['older ones not read yet'] : []), ...(hasNewer ? ['newer ones not read yet'] : [])]
  return `${[`${plural(lines.length, 'line')} shown`, ...more].join(', ')}${live ? ', live' : ''}`
}

interface AboutProps {
  readonly filter: OutputFilter
  readonly onChange: (filter: OutputFilter) => void
}
/** The output's subject, with a link back. */
function About({ filter, onChange }: AboutProps) {
  const id = filter.object || filter.root
  const found = useLive(id, (session, signal) => {
    const ask = async (asked: typeof session, reading: AbortSignal) =>
      id === '' ? null : (await asked.client.query(OUTPUT_OF, { id }, { signal: reading })).object
    return new AskedStore(session, { ask, concerns: () => false }, signal)
  })
  const object = found?.answer ?? null
  if (id === '' && filter.project === '') return null
  return (
    <span>
      of {object ? <Link href={treeHref(object.root.id, id)}>{object.path}</Link> : filter.project || <code>{id}</code>}
      {filter.root && ' and all below it'}{' '}
      {filter.object && object && object.root.id !== id && (
        <button
          type="button"
          className="plain"
          onClick={() => onChange({ ...filter, object: '', root: object.root.id })}
        >
          The whole tree
        </button>
      )}
      <button
        type="button"
        className="plain"
        onClick={() => onChange({ ...filter, object: '', root: '', project: '' })}
      >
        Of everything
      </button>
    </span>
  )
}

function Download({ store }: { readonly store: OutputStore }) {
  const [state, setState] = useState('')
  const save = async (): Promise<void> => {
    try {
      const texts = await store.save((count) => setState(`${plural(count, 'line')} …`))
      saveText('output.log', texts)
      setState(texts.length < MOST_SAVED ? '' : `The first ${plural(texts.length, 'line')} saved`)
    } catch (error) {
      setState(messageOf(error))
    }
  }
  return (
    <button type="button" onClick={() => void save()} disabled={state.endsWith('…')}>
      {state || 'Download'}
    </button>
  )
}

interface NothingProps extends AboutProps {
  readonly store: OutputStore
}
/** Nothing matches only if all output was searched. */
function Nothing({ store, filter, onChange }: NothingProps) {
  if (store.searching || store.hasOlder)
    return (
      <Empty title={store.searching ? 'Searching…' : 'Nothing found yet.'}>
        The newest lines do not match. <Older store={store} />
      </Empty>
    )
  if (OUTPUT_FILTER.write(filter) === '')
    return (
      <Empty title="Nothing has been printed yet.">The output of agents, gadgets, workers and jobs appears here.</Empty>
    )
  return (
    <Empty title="Nothing matches.">
      <button type="button" onClick={() => onChange(OUTPUT_FILTER.all)}>
        Show all output
      </button>
    </Empty>
  )
}

function Older({ store }: { readonly store: OutputStore }) {
  if (!store.hasOlder) return null
  if (store.isFull) return <p className="quiet log-more">Older lines have no room here: narrow the search.</p>
  return (
    <p className="log-more">
      <button type="button" onClick={store.readOlder} disabled={store.searching}>
        {store.searching ? 'Reading…' : 'Show older lines'}
      </button>
    </p>
  )
}

function Newer({ store }: { readonly store: OutputStore }) {
  if (!store.hasNewer) return null
  return (
    <p className="log-more">
      <button type="button" onClick={store.readNewer}>
        Show newer lines
      </button>
    </p>
  )
}
