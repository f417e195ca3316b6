import { useSearch } from 'wouter'
import { OverviewStore } from '../../data/overview-store.ts'
import { phasesOf } from '../../model/known.ts'
import { projectIn } from '../../model/scope.ts'
import { objectsHref } from '../../ui/links.ts'
import { useLive } from '../../ui/session-context.ts'
import { Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { causesOf, FailedThing } from './failures.tsx'
import { FirstVisit } from './first-visit.tsx'
import { NeedsYou } from './needs-you.tsx'
import { More, Section, SHOWN } from './parts.tsx'
import { RunsNow } from './runs-now.tsx'
import { TreesTable } from './trees-table.tsx'
import '../../styles/overview.css'

/** Decisions, waits and new failures, running trees, other failures, and a table of trees; the address may have a project. */
export default function OverviewPage() {
  useTitle('Overview')
  const project = projectIn(useSearch())
  const overview = useLive(`overview ${project}`, (session, signal) => new OverviewStore(session, project, signal))
  return (
    <div className="page overview">
      <h1>Overview</h1>
      {overview?.error && <Problem message={overview.error} />}
      {!overview?.loaded && <Loading what="what there is" />}
      {overview?.loaded && (overview.isEmpty ? <FirstVisit /> : <Sections overview={overview} project={project} />)}
    </div>
  )
}

interface Props {
  readonly overview: OverviewStore
  readonly project: string
}
const Sections = ({ overview, project }: Props) => (
  <>
    <NeedsYou overview={overview} project={project} />
    <RunsNow overview={overview} project={project} />
    <Failures overview={overview} project={project} />
    <TreesTable overview={overview} project={project} />
  </>
)

/** Failures that a person has seen, and the number of those that were not read. */
function Failures({ overview: { newFailures, seenFailures, unreadFailures }, project }: Props) {
  const count = seenFailures.length + unreadFailures
  const causes = causesOf(seenFailures)
  const href = objectsHref({ phases: phasesOf('FAILED'), project })
  const none = newFailures.length > 0 ? 'Nothing else has failed.' : 'Nothing has failed.'
  return (
    <Section
      id="failed"
      title="Failed"
      count={count}
      all={{ label: 'All that failed', href }}
      none={count > 0 ? null : none}
    >
      <ul className="things">
        {causes.slice(0, SHOWN).map((group) => (
          <FailedThing key={group.first.id} group={group} />
        ))}
      </ul>
      <More count={causes.length - SHOWN} noun="cause" href={href} />
      <More count={unreadFailures} noun="failure" href={href} />
    </Section>
  )
}
