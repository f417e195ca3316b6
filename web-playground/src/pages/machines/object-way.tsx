import { Link } from 'wouter'
import { NextStore } from '../../data/next-store.ts'
import { ObjectHistoryStore } from '../../data/object-history-store.ts'
import { humanKind } from '../../model/known.ts'
import type { Machine } from '../../model/machines.ts'
import { whoOf } from '../../model/moment.ts'
import { transitionPath, type WayTaken } from '../../model/way.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { placeHref, treeHref } from '../../ui/links.ts'
import { Phase } from '../../ui/phase.tsx'
import { useLive, useSession } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { Diagram } from './diagram.tsx'
import { MachineTabs } from './machine-tabs.tsx'

/** One object in the diagram of its machine: its past, present and possible next phases. */
export function ObjectWay({ id, chosen }: { readonly id: string; readonly chosen: string | null }) {
  const { machines } = useSession()
  const way = useLive(id, (session, signal) => new ObjectHistoryStore(session, id, signal))
  const next = useLive(id, (session, signal) => new NextStore(session, id, signal))
  const object = next?.object
  const known = object ?? way?.changes.at(-1)
  useTitle(known ? `${known.name}: state machine` : 'State machines')
  const error = way?.error ?? next?.error
  if (error) return <Problem message={error} />
  if (!way?.loaded || object === undefined) return <Loading what="its way" />
  const own = machines.all.filter(({ kinds }) => known && kinds.includes(known.kind))
  const machine = own.find(({ name }) => name === chosen) ?? own[0]
  if (!known || !machine) {
    return (
      <Empty title={`There is no object ${id}.`}>
        It is gone and its log with it, or your token does not let you see it. See{' '}
        <Link href="/machines">the machines</Link>, or <Link href="/objects">all objects</Link>.
      </Empty>
    )
  }
  const taken = transitionPath(machine, way.changes)
  const isMain = machine === own[0]
  const phase = object && isMain ? object.phase : taken.phase
  const moves = (object?.allowedTransitions ?? []).filter((row) => row.machine === machine.name)
  const rootId = object?.root.id ?? way.changes.at(-1)?.rootId ?? id
  return (
    <>
      {own.length > 1 && <MachineTabs machines={own} current={machine} objectId={id} />}
      <p className="way-head">
        <Link href={object ? treeHref(rootId, id) : placeHref(rootId, { view: 'timeline', object: id })}>
          {known.name}
        </Link>{' '}
        <span className="quiet">{humanKind(known.kind)}</span> <Now phase={phase} isGone={object === null} />
      </p>
      <div className="way-page">
        <Diagram key={machine.name} machine={machine} way={{ ...taken, phase, next: moves.map(({ to }) => to) }} />
        <div className="way-side">
          <Next moves={moves} />
          <Steps way={taken} hasOlder={way.hasOlder} machine={machine} />
        </div>
      </div>
    </>
  )
}

function Now({ phase, isGone }: { readonly phase: string | null; readonly isGone: boolean }) {
  if (isGone || phase === 'GONE') return <Phase phase="GONE" />
  return phase === null ? <span className="quiet">has not moved in this machine</span> : <Phase phase={phase} />
}

function Next({ moves }: { readonly moves: NonNullable<NextStore['object']>['allowedTransitions'] }) {
  return (
    <section className="card" aria-label="Next phases">
      <h2>Next phases</h2>
      {moves.length === 0 && <p className="quiet">None that you may choose.</p>}
      <ul>
        {moves.map(({ to, actor, reason }) => (
          <li key={`${actor} ${to} ${reason}`}>
            <Phase phase={to} />{' '}
            <span className="quiet">
              {actor}: {reason}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface StepsProps {
  readonly way: WayTaken
  readonly hasOlder: boolean
  readonly machine: Machine
}
function Steps({ way: { steps, refused }, hasOlder, machine }: StepsProps) {
  return (
    <section className="card" aria-label="Phase history">
      <h2>Phase history</h2>
      {steps.length === 0 && <p className="quiet">It has not moved in the machine {machine.name} yet.</p>}
      {hasOlder && <p className="quiet">Its newest changes; what was before is in the log.</p>}
      <ol className="way-steps">
        {steps.map(({ number, change }) => (
          <li key={change.sequence}>
            <span className="way-number">{number}</span>
            <span>
              {change.from && `${change.from} → `}
              <Phase phase={change.to} />{' '}
              <Link
                href={placeHref(change.rootId, { object: change.objectId, at: change.sequence })}
                title="The tree at that moment"
              >
                <time dateTime={change.at}>{dateTime(change.at)}</time>
              </Link>
              <span className="quiet">
                {' '}
                {whoOf(change)}
                {(change.message ?? change.reason) && `: ${change.message ?? change.reason}`}
              </span>
            </span>
          </li>
        ))}
      </ol>
      {refused.length > 0 && (
        <>
          <h3>Refused</h3>
          <ul>
            {refused.map((change) => (
              <li key={change.sequence}>
                {change.from} → {change.to}{' '}
                <span className="quiet">
                  {whoOf(change)}: {change.message ?? change.reason}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
