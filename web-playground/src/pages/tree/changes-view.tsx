import { Link, useLocation } from 'wouter'
import { type TreeChanges, treeChangesOf } from '../../data/tree-changes.ts'
import { humanKind } from '../../model/known.ts'
import { SPANS } from '../../model/time-range.ts'
import type { TreePlace } from '../../model/tree-place.ts'
import { plural } from '../../model/words.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { placeHref } from '../../ui/links.ts'
import { Phase } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { TimeField } from '../../ui/time-field.tsx'
import { Created } from './created.tsx'
import { RunChoice } from './run-choice.tsx'
import { RunComparison } from './run-comparison.tsx'
import { ValuesList } from './values-list.tsx'

interface Props {
  readonly rootId: string
  readonly place: TreePlace
}

/** The changes of a tree since a time, or between two of its runs: its objects, its spec, its exports. */
export function ChangesView({ rootId, place }: Props) {
  const { last, since, runs } = place
  const [, navigate] = useLocation()
  return (
    <section className="changes" aria-label="What has changed">
      <nav className="views" aria-label="How far back">
        {(Object.keys(SPANS) as (keyof typeof SPANS)[]).map((span) => (
          <Link
            key={span}
            href={placeHref(rootId, { ...place, last: span, since: '', runs: null })}
            aria-current={span === last && !since && !runs ? 'page' : undefined}
          >
            Last {span}
          </Link>
        ))}
      </nav>
      <TimeField
        label="Since"
        action="Show"
        onTime={(time) => navigate(placeHref(rootId, { ...place, since: time.toISOString(), runs: null }))}
      />
      <RunChoice rootId={rootId} place={place} />
      {runs ? <RunComparison {...{ rootId, place, runs }} /> : <SinceTime {...{ rootId, place }} />}
    </section>
  )
}

function SinceTime({ rootId, place }: Props) {
  const { last, since } = place
  const store = useLive(`${rootId} ${last} ${since}`, (session, signal) =>
    treeChangesOf(session, { rootId, last, since }, signal),
  )
  return (
    <>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!store?.answer && !store?.error && <Loading what="what has changed" />}
      {store?.answer && <Changes changes={store.answer.changes} {...{ rootId, place }} />}
    </>
  )
}

function Changes({ changes, rootId, place }: Props & { readonly changes: TreeChanges }) {
  if (!changes) return <Empty title={`The log has no tree ${rootId}.`} />
  const { objects, objectCount, spec, exports, fromTime, creation } = changes
  if (objectCount === 0) return <Empty title={`Nothing has changed since ${dateTime(fromTime)}.`} />
  return (
    <>
      <p className="quiet" role="status">
        {creation ? (
          <>
            This tree did not exist on {dateTime(fromTime)}, so there is nothing to compare it with.{' '}
            <Created {...creation} /> It has {plural(objectCount, 'object')}
          </>
        ) : (
          `${plural(objectCount, 'object')} changed since ${dateTime(fromTime)}`
        )}
        {objects.length < objectCount && `, of which ${objects.length.toLocaleString('en')} are shown`}.
      </p>
      {!creation && (
        <>
          <ValuesList title="Spec" values={spec} />
          <ValuesList title="Exports" values={exports} />
        </>
      )}
      <h2>Objects</h2>
      <ul className="changed-objects">
        {objects.map(({ objectId, path, kind, change, before, after, object }) => (
          <li key={objectId} data-change={creation ? undefined : change}>
            {object ? <Link href={placeHref(rootId, { ...place, object: objectId })}>{path}</Link> : path}{' '}
            <span className="quiet">{humanKind(kind)}:</span>{' '}
            {!creation && (
              <>
                {before === null ? <span className="quiet">new</span> : <Phase phase={before} />}
                <span aria-hidden="true"> → </span>
                <span className="hidden">then</span>
              </>
            )}
            {after === null ? <span className="quiet">gone</span> : <Phase phase={after} />}
          </li>
        ))}
      </ul>
    </>
  )
}
