import { useCallback } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { AskedStore } from '../../../data/asked-store.ts'
import { plural } from '../../../model/words.ts'
import { SearchField } from '../../../ui/search-field.tsx'
import { useLive } from '../../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../../ui/states.tsx'
import { useTitle } from '../../../ui/title.ts'
import { LOCKS_NOW, type Locks } from '../data.ts'
import { holdUpsOf, resourcesOf } from '../model/lock-queues.ts'
import { HoldUps } from './hold-ups.tsx'
import { ResourceCard } from './resource-card.tsx'
import './locks.css'

/** The most cards that are drawn: the filter finds the others. */
const SHOWN = 200

/** Resources with their holders and waiters. */
export default function LocksPage() {
  useTitle('Locks')
  const store = useLive('locks', (session, signal) => new AskedStore(session, LOCKS_NOW, signal))
  const name = new URLSearchParams(useSearch()).get('resource') ?? ''
  const [, navigate] = useLocation()
  const filter = useCallback(
    (text: string): void =>
      navigate(text ? `/locks?${new URLSearchParams({ resource: text })}` : '/locks', { replace: true }),
    [navigate],
  )
  const answer = store?.answer
  return (
    <div className="page">
      <div className="page-head">
        <h1>Locks</h1>
        <span className="quiet" role="status">
          {answer && counted(answer)}
        </span>
      </div>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!answer && !store?.error && <Loading what="locks" />}
      {answer && answer.total === 0 && !name && <NoLocks />}
      {answer && (answer.total > 0 || name) && (
        <>
          <search className="filters">
            <SearchField label="Resource" value={name} onChange={filter} />
          </search>
          <Resources answer={answer} name={name} onAll={() => filter('')} />
        </>
      )}
    </div>
  )
}

function counted({ locks, total }: Locks): string {
  const held = locks.filter((lock) => lock.held).length
  const read = locks.length < total ? ` (of the first ${locks.length.toLocaleString('en')} read)` : ''
  return `${held.toLocaleString('en')} held, ${(locks.length - held).toLocaleString('en')} waited for${read}`
}

interface ResourcesProps {
  readonly answer: Locks
  readonly name: string
  readonly onAll: () => void
}
function Resources({ answer, name, onAll }: ResourcesProps) {
  const all = resourcesOf(answer.locks)
  const words = name.toLowerCase()
  const shown = all.filter((resource) => resource.name.toLowerCase().includes(words))
  return (
    <>
      <HoldUps holdUps={holdUpsOf(all)} />
      {shown.length === 0 && (
        <Empty title={`Nobody holds or wants a resource named like “${name}”.`}>
          <button type="button" onClick={onAll}>
            Show all resources
          </button>
        </Empty>
      )}
      <div className="cards">
        {shown.slice(0, SHOWN).map((resource) => (
          <ResourceCard key={resource.name} resource={resource} />
        ))}
      </div>
      {shown.length > SHOWN && (
        <p className="quiet">
          and {plural(shown.length - SHOWN, 'more resource')} with shorter queues: filter by name to see them.
        </p>
      )}
    </>
  )
}

function NoLocks() {
  return (
    <Empty title="No resource is locked.">
      <p>
        The jobs of a task say which resources they need, such as <code>host:web-1</code>, alone or shared, and run once
        they have them all.
      </p>
      <p>
        <Link href="/create/task">Create a task</Link>, or look at{' '}
        <Link href="/objects?kind=TASK">those there are</Link>.
      </p>
    </Empty>
  )
}
