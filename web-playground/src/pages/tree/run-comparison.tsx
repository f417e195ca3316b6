import { failureText } from 'phaseline/client-model'
import { Link } from 'wouter'
import { type RunComparison as Compared, runComparisonOf } from '../../data/run-comparison.ts'
import { humanKind } from '../../model/known.ts'
import { exactly } from '../../model/moment.ts'
import type { TreePlace } from '../../model/tree-place.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { placeHref } from '../../ui/links.ts'
import { Phase } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { ValuesList } from './values-list.tsx'

interface Props {
  readonly rootId: string
  readonly place: TreePlace
  readonly runs: readonly [number, number]
}
type Run = NonNullable<Compared>['a']

/** Two runs of a root side by side: how they ended, their specs and exports, and the objects that went another way. */
export function RunComparison({ rootId, place, runs }: Props) {
  const store = useLive(`${rootId} ${runs}`, (session, signal) =>
    runComparisonOf(session, { id: rootId, runs }, signal),
  )
  if (store?.error) return <Problem message={store.error} onRetry={store.refresh} />
  if (!store?.answer) return <Loading what="the two runs" />
  const { comparison } = store.answer
  if (!comparison) return <Empty title={`Runs ${runs.join(' and ')} are not both kept.`} />
  const { a, b, spec, exports, objects, truncated } = comparison
  return (
    <>
      <ul className="compared-runs">
        {[a, b].map((run) => (
          <li key={run.number}>
            <RunLine run={run} />
          </li>
        ))}
      </ul>
      {spec === null && <p className="quiet">The spec of one of them is no longer kept.</p>}
      <ValuesList title="Spec" values={spec} />
      <ValuesList title="Exports" values={exports} />
      <h2>Objects</h2>
      {objects.length === 0 && <p className="quiet">Each object ended as before, and took about as long.</p>}
      <ul className="changed-objects">
        {objects.map(({ objectId, kind, path, phaseA, phaseB, durationMsA, durationMsB }) => (
          <li key={objectId}>
            <Link href={placeHref(rootId, { ...place, object: objectId })}>{path}</Link>{' '}
            <span className="quiet">{humanKind(kind)}:</span> <Part phase={phaseA} ms={durationMsA} />
            <span aria-hidden="true"> → </span>
            <span className="hidden">then</span>
            <Part phase={phaseB} ms={durationMsB} />
          </li>
        ))}
      </ul>
      {truncated && <p className="quiet">… and more</p>}
    </>
  )
}

const RunLine = ({ run: { number, phase, startedAt, durationMs, generation, by, error } }: { readonly run: Run }) => (
  <>
    <b>Run {number}</b> {phase ? <Phase phase={phase} /> : 'running'}{' '}
    <span className="quiet">
      {durationMs !== null && `${exactly(durationMs)}, `}spec {generation}
      {by !== null && `, by ${by}`}, <time dateTime={startedAt}>{dateTime(startedAt)}</time>
    </span>
    {error && <span> {failureText(error)}</span>}
  </>
)

function Part({ phase, ms }: { readonly phase: string | null; readonly ms: number | null }) {
  if (phase === null) return <span className="quiet">not part of it</span>
  return (
    <>
      <Phase phase={phase} /> {ms !== null && <span className="quiet">{exactly(ms)}</span>}
    </>
  )
}
