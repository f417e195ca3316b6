import { Link } from 'wouter'
import { type TreeChanges, treeChangesOf, type ValueChanges } from '../../data/tree-changes.ts'
import { humanKind } from '../../model/known.ts'
import { AFTERWARDS, describeDifference } from '../../model/spec-diff.ts'
import { SPANS } from '../../model/time-range.ts'
import type { TreePlace } from '../../model/tree-place.ts'
import { plural } from '../../model/words.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { placeHref } from '../../ui/links.ts'
import { Phase } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { Created } from './created.tsx'

interface Props {
  readonly rootId: string
  readonly place: TreePlace
}

/** The changes of a tree within the last hour, day or week: its objects, its spec, its exports. */
export function ChangesView({ rootId, place }: Props) {
  const { last } = place
  const store = useLive(`${rootId} ${last}`, (session, signal) => treeChangesOf(session, { rootId, last }, signal))
  return (
    <section className="changes" aria-label="What has changed">
      <nav className="views" aria-label="How far back">
        {(Object.keys(SPANS) as (keyof typeof SPANS)[]).map((span) => (
          <Link
            key={span}
            href={placeHref(rootId, { ...place, last: span })}
            aria-current={span === last ? 'page' : undefined}
          >
            Last {span}
          </Link>
        ))}
      </nav>
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!store?.answer && !store?.error && <Loading what="what has changed" />}
      {store?.answer && <Changes changes={store.answer.changes} place={place} />}
    </section>
  )
}

function Changes({ changes, place }: { readonly changes: TreeChanges; readonly place: TreePlace }) {
  if (!changes) return <Empty title="The log has no such tree." />
  const { rootId, objects, objectCount, spec, exports, fromTime, creation } = changes
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
          <Values title="Spec" values={spec} />
          <Values title="Exports" values={exports} />
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

function Values({ title, values }: { readonly title: string; readonly values: ValueChanges | null }) {
  if (!values || values.differences.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <ul className="differences">
        {values.differences.map(({ path, change, before, after }) => {
          const difference = {
            path: path.join('.'),
            from: change === 'ADDED' ? undefined : before,
            to: change === 'REMOVED' ? undefined : after,
          }
          return (
            <li key={difference.path}>
              {path.length === 0 ? (
                `All of it is ${before === null ? 'new' : after === null ? 'gone' : 'another'}.`
              ) : (
                <code>{describeDifference(difference, AFTERWARDS)}</code>
              )}
            </li>
          )
        })}
        {values.truncated && <li>… and more</li>}
      </ul>
    </>
  )
}
