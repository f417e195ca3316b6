import { Link } from 'wouter'
import { ListStore } from '../../data/list-store.ts'
import { OverviewStore, type Unfinished } from '../../data/overview-store.ts'
import { grouped, restingRoots } from '../../model/failures.ts'
import { ALL } from '../../model/filter.ts'
import type { Row } from '../../model/object.ts'
import { stuckOf } from '../../model/stuck.ts'
import { plural } from '../../model/words.ts'
import { createHref, objectsHref } from '../../ui/links.ts'
import { Phase, Since } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { CountsTable } from './counts-table.tsx'
import { Failures } from './failures.tsx'
import { Name, SectionTitle, SHOWN } from './parts.tsx'

const RUNNING = { ...ALL, roots: true, finished: false }

/** Counts of all objects, and lists of running, stuck and failed ones. */
export function OverviewPage() {
  useTitle('Overview')
  const overview = useLive('overview', (session, signal) => new OverviewStore(session, signal))
  const running = useLive('running', (session, signal) => new ListStore(session, RUNNING, signal))
  const stuck = stuckOf(overview?.unfinished ?? [])
  const resting = restingRoots(overview?.unfinished ?? [])
  return (
    <div className="page">
      <h1>Overview</h1>
      {overview?.error && <Problem message={overview.error} />}
      <div className="overview">
        <section className="card" aria-labelledby="stuck">
          <SectionTitle id="stuck" title="Stuck" count={overview?.unfinished ? stuck.length : null} href={null} />
          {!overview?.unfinished && <Loading what="what waits" />}
          {overview?.unfinished && stuck.length === 0 && <Empty title="Nothing is stuck." />}
          <ul className="things">
            {grouped(stuck, ({ blocker }) => `${blocker.reason} ${blocker.message}`)
              .slice(0, SHOWN)
              .map(({ first: { object, blocker }, more }) => (
                <Stuck key={object.id} object={object} reason={blocker.reason} message={blocker.message} more={more} />
              ))}
          </ul>
        </section>
        <Rows id="running" title="Running" list={running} without={resting} href={objectsHref(RUNNING)}>
          <Empty title="Nothing is running.">
            <Link href={createHref()}>Create something</Link>: there are examples. Or{' '}
            <code>npm run phaseline -- apply -f my.yaml</code>. New here? Read the{' '}
            <a href="/docs/quick-start">quick start</a>.
          </Empty>
        </Rows>
        <Failures overview={overview} />
        <section className="card wide" aria-labelledby="counts">
          <SectionTitle id="counts" title="All objects" count={null} href="/objects" />
          {overview?.counts ? <CountsTable counts={overview.counts} /> : <Loading what="counts" />}
        </section>
      </div>
    </div>
  )
}

function More({ count, href }: { readonly count: number; readonly href: string }) {
  if (count <= SHOWN) return null
  return (
    <p>
      <Link href={href}>{plural(count - SHOWN, 'more object')}</Link>
    </p>
  )
}

interface RowsProps {
  readonly id: string
  readonly title: string
  readonly list: ListStore | null
  /** Ids of rows that are left out. */
  readonly without: ReadonlySet<string>
  readonly href: string
  readonly children: React.ReactNode
}
function Rows({ id, title, list, without, href, children }: RowsProps) {
  const rows = (list?.rows ?? []).filter((row) => !without.has(row.id))
  const count = list?.loaded ? `${rows.length}${list.complete ? '' : '+'}` : null
  return (
    <section className="card" aria-labelledby={id}>
      <SectionTitle id={id} title={title} count={count} href={href} />
      {list?.error && <Problem message={list.error} onRetry={list.retry} />}
      {!list?.loaded && !list?.error && <Loading what={title.toLowerCase()} />}
      {list?.loaded && rows.length === 0 && children}
      <ul className="things">
        {rows.slice(0, SHOWN).map((row) => (
          <Thing key={row.id} row={row} />
        ))}
      </ul>
      <More count={rows.length} href={href} />
    </section>
  )
}

function Thing({ row }: { readonly row: Row }) {
  return (
    <li>
      <Name row={row} />
      <span className="thing-end">
        <Phase phase={row.phase} /> <Since at={row.phaseSince} />
      </span>
      {row.error && <span className="thing-why">{row.error.message}</span>}
    </li>
  )
}

function Stuck({
  object,
  reason,
  message,
  more,
}: {
  /** Objects that wait for the same. */
  readonly more: number
  readonly object: Unfinished
  readonly reason: string
  readonly message: string
}) {
  return (
    <li>
      <Name row={object} />
      <span className="thing-end">
        <Phase phase={object.phase} /> <Since at={object.phaseSince} />
      </span>
      <span className="thing-why">
        <b className="reason">{reason}</b> {message}
        {more > 0 && <span className="quiet"> – and {plural(more, 'object')} more</span>}
      </span>
    </li>
  )
}
