import { grouped, stuckAmong, stuckOf, withoutTimes } from 'phaseline/client-model'
import { Link } from 'wouter'
import type { Health, OverviewStore, Unfinished } from '../../data/overview-store.ts'
import { phasesOf } from '../../model/known.ts'
import { logHref, objectsHref, treeHref } from '../../ui/links.ts'
import { Phase, Since } from '../../ui/phase.tsx'
import { Sentence } from '../../ui/sentence.tsx'
import { causesOf, FailedThing, UndoneThing } from './failures.tsx'
import { More, Name, Section, SHOWN } from './parts.tsx'

/** Causes of the verdict that stand in the list as objects, which know more of themselves. */
const AS_OBJECTS: readonly string[] = [
  ...['NO_AGENT', 'NO_PLACE', 'CLOUDLET_OFFLINE', 'DECISION', 'FAILED', 'MISSING_IMPORT', 'SLOTS_FULL', 'PAUSED'],
]

/** The verdict; decisions of people, root causes of waits, other causes, and failures that nobody has marked as seen. */
export function NeedsYou({ overview, project }: { readonly overview: OverviewStore; readonly project: string }) {
  const { unfinished, undecided, unfinishedTotal, newFailures, unreadFailures, undone, health, markSeen } = overview
  const waits = grouped(
    stuckOf(unfinished, undecided),
    ({ blocker }) => `${blocker.reason} ${withoutTimes(blocker.message)}`,
  )
  const others = (health?.causes ?? []).filter(({ cause }) => !AS_OBJECTS.includes(cause))
  const causes = causesOf(newFailures)
  const failures = causes.length + undone.length
  const { isPart, none } = stuckAmong(unfinished.length, unfinishedTotal)
  const count = waits.length + others.length + failures
  return (
    <Section
      id="needs-you"
      title="Needs you"
      count={isPart || unreadFailures > 0 ? `${count}+` : count}
      all={null}
      badge={health && health.verdict !== 'HEALTHY' && <b className="reason">{health.verdict}</b>}
      none={count > 0 ? null : isPart ? none : 'Nothing waits for you.'}
    >
      <ul className="things">
        {waits.slice(0, SHOWN).map(({ first: { object, blocker }, more }) => (
          <Stuck key={object.id} object={object} blocker={blocker} more={more} />
        ))}
        {others.map((cause) => (
          <Cause key={`${cause.cause} ${cause.project} ${cause.subject}`} cause={cause} />
        ))}
        {causes.slice(0, SHOWN).map((group) => (
          <FailedThing key={group.first.id} group={group} />
        ))}
        {undone.slice(0, SHOWN).map((change) => (
          <UndoneThing key={change.sequence} change={change} />
        ))}
      </ul>
      <More count={waits.length - SHOWN} noun="cause" href={objectsHref({ finished: false, project })} />
      <More count={causes.length - SHOWN} noun="failure" href={objectsHref({ phases: phasesOf('FAILED'), project })} />
      <More
        count={undone.length - SHOWN}
        noun="undone failure"
        href={logHref({ project, became: 'failed', last: 'day' })}
      />
      {failures > 0 && (
        <p className="more">
          <button type="button" onClick={markSeen}>
            Mark the failures as seen
          </button>
        </p>
      )}
    </Section>
  )
}

function Cause({ cause: one }: { readonly cause: Health['causes'][number] }) {
  const { cause, since, project, subject, message, action, command, page } = one
  return (
    <li data-cause={cause}>
      <span className="thing-name">
        {/* The documentation is no page of this application. */}
        {page.startsWith('/docs/') ? <a href={page}>{subject}</a> : <Link href={page}>{subject}</Link>}{' '}
        <span className="quiet">{project !== subject && project}</span>
      </span>
      <span className="thing-end">{since !== null && <Since at={since} />}</span>
      <span className="thing-why">
        <b className="reason">{cause}</b> <Sentence text={message} /> {action} <code>{command}</code>
      </span>
    </li>
  )
}

interface StuckProps {
  /** Objects that wait for the same. */
  readonly more: number
  readonly object: Unfinished
  readonly blocker: Unfinished['blockedBy'][number]
}
function Stuck({ object, blocker: { reason, message, verbs = [] }, more }: StuckProps) {
  return (
    <li>
      <Name row={object} more={more} />
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
      </span>
    </li>
  )
}
