import type { PhaseChange } from 'phaseline/client'
import { type Group, grouped } from 'phaseline/client-model'
import { Link } from 'wouter'
import type { Failed, OverviewStore } from '../../data/overview-store.ts'
import { humanKind, phasesOf } from '../../model/known.ts'
import { plural } from '../../model/words.ts'
import { logHref, objectsHref } from '../../ui/links.ts'
import { Phase, Since } from '../../ui/phase.tsx'
import { Empty, Loading } from '../../ui/states.tsx'
import { Name, SectionTitle, SHOWN } from './parts.tsx'

interface Props {
  readonly overview: OverviewStore | null
  readonly project: string
}
/** Failures, each cause once, without objects that failed only because of another in them; and those undone since. */
export function Failures({ overview, project }: Props) {
  const { failed = null, failedTotal = 0, undone = [] } = overview ?? {}
  const count = failed && failedTotal + undone.length
  return (
    <section className="card" aria-labelledby="failed">
      <SectionTitle
        id="failed"
        title="Failed"
        count={count}
        href={objectsHref({ phases: phasesOf('FAILED'), project })}
      />
      {!failed && <Loading what="what failed" />}
      {count === 0 && <Empty title="Nothing has failed." />}
      <ul className="things">
        {grouped(failed ?? [], ({ kind, error }) => `${kind} ${error?.code} ${error?.message}`)
          .slice(0, SHOWN)
          .map((group) => (
            <FailedThing key={group.first.id} group={group} />
          ))}
        {undone.slice(0, SHOWN).map((change) => (
          <UndoneThing key={change.sequence} change={change} />
        ))}
      </ul>
      {undone.length > 0 && (
        <p>
          <button type="button" onClick={overview?.markSeen}>
            Seen what was undone
          </button>
        </p>
      )}
    </section>
  )
}

function FailedThing({ group: { first, more } }: { readonly group: Group<Failed> }) {
  return (
    <li data-failure={first.path}>
      <Name row={first} />
      <span className="thing-end">
        <Phase phase={first.phase} /> <Since at={first.phaseSince} />
      </span>
      <span className="thing-why">
        {first.error?.message ?? 'It says no reason.'}
        {more > 0 && <span className="quiet"> – and {plural(more, 'object')} more with this error</span>}
      </span>
    </li>
  )
}

/** Its object may be gone, so the data is from the log. */
function UndoneThing({
  change: { projectName, path, name, kind, to, at, message, reason },
}: {
  readonly change: PhaseChange
}) {
  const place = `${projectName}/${path}`
  return (
    <li data-undone={place}>
      <span className="thing-name">
        <Link href={logHref({ text: place })}>{name}</Link> <span className="quiet">{humanKind(kind)}, undone</span>
      </span>
      <span className="thing-end">
        <Phase phase={to} /> <Since at={at} />
      </span>
      <span className="thing-why">{message ?? reason}</span>
    </li>
  )
}
