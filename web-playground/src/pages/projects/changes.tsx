import { useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { type ChangedTree, projectChangesOf } from '../../data/project-changes.ts'
import { humanKind } from '../../model/known.ts'
import { whoOf } from '../../model/moment.ts'
import { SPANS, TIME_RANGE } from '../../model/time-range.ts'
import { plural } from '../../model/words.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { placeHref, projectHref } from '../../ui/links.ts'
import { Phase, Since } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Loading, Problem } from '../../ui/states.tsx'
import { TimeField } from '../../ui/time-field.tsx'

/** The trees of a project that have changed since a time, which is in the address: at first, since a day ago. */
export function Changes({ project }: { readonly project: string }) {
  const [, navigate] = useLocation()
  const { since } = TIME_RANGE.read(useSearch())
  const [dayAgo] = useState(() => new Date(Date.now() - SPANS.day).toISOString())
  const fromTime = since || dayAgo
  const store = useLive(`${project} ${fromTime}`, (session, signal) =>
    projectChangesOf(session, { name: project, fromTime }, signal),
  )
  const changes = store?.answer?.changes
  return (
    <section className="card" aria-labelledby="project-changes">
      <h3 id="project-changes">What has changed</h3>
      <TimeField label="Since" action="Show" onTime={(time) => navigate(projectHref(project, time.toISOString()))} />
      {store?.error && <Problem message={store.error} onRetry={store.refresh} />}
      {!store?.answer && !store?.error && <Loading what="what has changed" />}
      {changes && (
        <>
          <p className="quiet" role="status">
            {changes.treeCount === 0 ? 'Nothing has' : `${plural(changes.treeCount, 'tree')} changed`}
            {changes.treeCount === 0 && ' changed'} since {dateTime(fromTime)}
            {changes.trees.length < changes.treeCount && `, of which ${plural(changes.trees.length, 'tree')} are shown`}
            .
          </p>
          <ul className="things">
            {changes.trees.map((tree) => (
              <Tree key={tree.rootId} tree={tree} since={fromTime} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function Tree({ tree, since }: { readonly tree: ChangedTree; readonly since: string }) {
  const { rootId, name, root, creation, changedAt, addedCount, removedCount, changedCount, failedCount } = tree
  const counts = [
    creation ? plural(addedCount, 'object') : addedCount > 0 && `${addedCount} added`,
    removedCount > 0 && `${removedCount} removed`,
    changedCount > 0 && `${changedCount} changed`,
  ].filter((part) => part !== false)
  return (
    <li data-tree={name}>
      <span className="thing-name">
        <Link href={placeHref(rootId, { view: 'changes', since })}>{name}</Link>{' '}
        <span className="quiet">{root ? humanKind(root.kind) : 'deleted'}</span>
      </span>
      <span className="thing-end">{root && <Phase phase={root.phase} />}</span>
      <span className="thing-why">
        {creation && (
          <>
            created <Since at={creation.at} /> ago by {whoOf(creation)}:{' '}
          </>
        )}
        {counts.join(', ')}
        {failedCount > 0 && <b className="wrong"> {failedCount} failed</b>}
        {!creation && (
          <>
            , last <Since at={changedAt} /> ago
          </>
        )}
      </span>
    </li>
  )
}
