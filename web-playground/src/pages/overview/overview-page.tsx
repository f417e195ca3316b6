import { grouped, withoutTimes } from 'phaseline/client-model'
import { Link, useSearch } from 'wouter'
import { ListStore } from '../../data/list-store.ts'
import { OverviewStore, type Unfinished } from '../../data/overview-store.ts'
import { restingRoots } from '../../model/failures.ts'
import { ALL_OBJECTS } from '../../model/filter.ts'
import type { Row } from '../../model/object.ts'
import { projectIn } from '../../model/scope.ts'
import { stuckAmong, stuckOf } from '../../model/stuck.ts'
import { plural } from '../../model/words.ts'
import { createHref, objectsHref, treeHref } from '../../ui/links.ts'
import { Phase, Since } from '../../ui/phase.tsx'
import { Sentence } from '../../ui/sentence.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { CountsTable } from './counts-table.tsx'
import { Failures } from './failures.tsx'
import { LatestTrees } from './latest-trees.tsx'
import { Name, SectionTitle, SHOWN } from './parts.tsx'

/** Counts of all objects, and lists of running, stuck and failed ones; the address may have a project. */
export default function OverviewPage() {
  useTitle('Overview')
  const project = projectIn(useSearch())
  const filter = { ...ALL_OBJECTS, roots: true, finished: false, project }
  const overview = useLive(`overview ${project}`, (session, signal) => new OverviewStore(session, project, signal))
  const running = useLive(`running ${project}`, (session, signal) => new ListStore(session, filter, signal))
  const stuck = stuckOf(overview?.unfinished ?? [], overview?.undecided ?? [])
  const read = overview?.unfinished ? stuckAmong(overview.unfinished.length, overview.unfinishedTotal) : null
  const resting = restingRoots(overview?.unfinished ?? [])
  return (
    <div className="page">
      <h1>Overview</h1>
      {overview?.error && <Problem message={overview.error} />}
      <div className="overview">
        <section className="card" aria-labelledby="stuck">
          <SectionTitle
            id="stuck"
            title="Stuck"
            count={read && `${stuck.length}${read.isPart ? '+' : ''}`}
            href={null}
          />
          {!overview?.unfinished && <Loading what="what waits" />}
          {read && stuck.length === 0 && <Empty title={read.none} />}
          <ul className="things">
            {grouped(stuck, ({ blocker }) => `${blocker.reason} ${withoutTimes(blocker.message)}`)
              .slice(0, SHOWN)
              .map(({ first: { object, blocker }, more }) => (
                <Stuck key={object.id} object={object} blocker={blocker} more={more} />
              ))}
          </ul>
        </section>
        <Rows
          id="running"
          title="Running"
          list={running}
          without={resting}
          unfinished={unfinishedBelow(overview)}
          href={objectsHref(filter)}
        >
          <Empty title="Nothing is running.">
            <Link href={createHref()}>Create something</Link>: there are examples. Or{' '}
            <code>phaseline apply -f my.yaml</code>. New here? Read the <a href="/docs/quick-start">quick start</a>.
          </Empty>
        </Rows>
        <Failures overview={overview} project={project} />
        <LatestTrees project={project} />
        <section className="card wide" aria-labelledby="counts">
          <SectionTitle id="counts" title="All objects" count={null} href={objectsHref({ project })} />
          {overview?.counts ? <CountsTable counts={overview.counts} project={project} /> : <Loading what="counts" />}
        </section>
      </div>
    </div>
  )
}

/** Empty while there are more unfinished objects than were read. */
function unfinishedBelow(overview: OverviewStore | null): ReadonlyMap<string, number> {
  const { unfinished, unfinishedTotal = 0 } = overview ?? {}
  if (!unfinished || unfinishedTotal > unfinished.length) return new Map()
  const below = unfinished.filter(({ id, root }) => id !== root.id)
  return new Map([...Map.groupBy(below, ({ root }) => root.id)].map(([id, group]) => [id, group.length]))
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
  /** Number of unfinished objects below each root, by the root's id. */
  readonly unfinished: ReadonlyMap<string, number>
  readonly href: string
  readonly children: React.ReactNode
}
function Rows({ id, title, list, without, unfinished, href, children }: RowsProps) {
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
          <Thing key={row.id} row={row} unfinished={unfinished.get(row.id) ?? 0} />
        ))}
      </ul>
      <More count={rows.length} href={href} />
    </section>
  )
}

function Thing({ row, unfinished }: { readonly row: Row; readonly unfinished: number }) {
  return (
    <li>
      <Name row={row} />
      <span className="thing-end">
        <Phase phase={row.phase} /> <Since at={row.phaseSince} />
      </span>
      {unfinished > 0 && <span className="thing-why">{plural(unfinished, 'object')} in it unfinished</span>}
      {row.error && <span className="thing-why">{row.error.message}</span>}
    </li>
  )
}

function Stuck({
  object,
  blocker: { reason, message, verbs = [] },
  more,
}: {
  /** Objects that wait for the same. */
  readonly more: number
  readonly object: Unfinished
  readonly blocker: Unfinished['blockedBy'][number]
}) {
  return (
    <li>
      <Name row={object} />
      <span className="thing-end">
        <Phase phase={object.phase} /> <Since at={object.phaseSince} />
      </span>
      <span className="thing-why">
        <b className="reason">{reason}</b> <Sentence text={message} />
        {verbs.length > 0 && (
          <>
            {' '}
            <Link href={treeHref(object.root.id, object.id)}>{verbs.map(({ label }) => label).join(', or ')}</Link>.
          </>
        )}
        {more > 0 && <span className="quiet"> – and {plural(more, 'object')} more</span>}
      </span>
    </li>
  )
}
