import { Link } from 'wouter'
import { forecastsOf, type ShownForecast } from '../../data/forecasts.ts'
import type { OverviewStore, Running } from '../../data/overview-store.ts'
import { movingTrees } from '../../model/failures.ts'
import { ALL_OBJECTS } from '../../model/filter.ts'
import { classOf } from '../../model/known.ts'
import { lastRunOf } from '../../model/last-run.ts'
import { plural } from '../../model/words.ts'
import { Expected } from '../../ui/expected.tsx'
import { objectsHref } from '../../ui/links.ts'
import { Paused } from '../../ui/pending.tsx'
import { Phase, Since } from '../../ui/phase.tsx'
import { Sentence } from '../../ui/sentence.tsx'
import { useLive } from '../../ui/session-context.ts'
import { More, Name, Section, SHOWN } from './parts.tsx'

/** Trees whose root is unfinished, without those in which everything waits. */
export function RunsNow({ overview, project }: { readonly overview: OverviewStore; readonly project: string }) {
  const rows = movingTrees(overview.running, overview.unfinished)
  const ids = rows.slice(0, SHOWN).map(({ id }) => id)
  const forecasts = useLive(ids.join(' '), (session, signal) => forecastsOf(session, ids, signal))?.answer
  const href = objectsHref({ ...ALL_OBJECTS, roots: true, finished: false, project })
  return (
    <Section
      id="runs-now"
      title="Runs now"
      count={`${rows.length}${overview.hasMoreRunning ? '+' : ''}`}
      all={{ label: 'All unfinished trees', href }}
      none={rows.length > 0 ? null : overview.hasMoreRunning ? <OnlyPart href={href} /> : 'Nothing is running.'}
    >
      <ul className="things running">
        {rows.slice(0, SHOWN).map((row) => (
          <RunningTree key={row.id} row={row} forecast={forecasts?.get(row.id)} />
        ))}
      </ul>
      <More count={rows.length - SHOWN} noun="tree" href={href} />
    </Section>
  )
}

const OnlyPart = ({ href }: { readonly href: string }) => (
  <>
    The unfinished trees that have changed last all wait. <Link href={href}>All unfinished trees</Link> has the others.
  </>
)

interface RunningProps {
  readonly row: Running
  readonly forecast: ShownForecast | undefined
}
function RunningTree({ row, forecast }: RunningProps) {
  const { cause, startedAt, by } = lastRunOf(row)
  // Its progress says as much of its children.
  const blocker = row.blockedBy.find(({ reason }) => reason !== 'CHILDREN')
  return (
    <li data-running={row.name}>
      <Name row={row} />
      <span className="thing-end">
        <Phase phase={row.phase} /> <Paused pause={row.pause} />
      </span>
      <Progress row={row} />
      <span className="thing-end begun">
        {cause}
        {by !== null && ` by ${by}`} <Since at={startedAt} /> ago
      </span>
      {forecast && (
        <span className="thing-why">
          <Expected forecast={forecast} />
        </span>
      )}
      {blocker && (
        <span className="thing-why">
          <Sentence text={blocker.message} />
        </span>
      )}
    </li>
  )
}

function Progress({ row: { name, phase, treeCounts } }: { readonly row: Running }) {
  const { all, finished } = treeCounts
  // A deletion leaves nothing that is finished.
  if (classOf(phase) === 'REMOVING') return <span className="tree-progress">{plural(all, 'object')} left</span>
  return (
    <span className="tree-progress">
      <progress value={finished} max={all} aria-label={`Progress of ${name}`} /> {finished.toLocaleString('en')} of{' '}
      {all.toLocaleString('en')} done
    </span>
  )
}
