import { describeTargets } from 'phaseline/client-model'
import { plural } from '../../model/words.ts'
import type { Busy } from '../../model/work.ts'
import { Phase, Since, Until } from '../../ui/phase.tsx'
import { WorkLink } from './work-link.tsx'

const SHOWN = 10

/** One process: its connection, the work that it takes, and the work that it has claimed. */
export function AgentCard({ busy: { agent, claimed } }: { readonly busy: Busy }) {
  const { name, instance, actor, types, targets, targetSelector, connected, connectedAt, seenAt } = agent
  return (
    <section className={connected ? 'card agent' : 'card agent is-failed'} aria-label={`${name} ${instance}`}>
      <header>
        <h3>
          {name} <span className="quiet">{instance}</span>
        </h3>
        {connected ? (
          <span className="phase is-done">
            <span aria-hidden="true">✓</span> connected
          </span>
        ) : (
          <span className="phase is-failed">
            <span aria-hidden="true">✗</span> unreachable
          </span>
        )}
      </header>
      <dl>
        <dt>Takes</dt>
        <dd>
          {types.map((type) => (
            <code key={type}>{type}</code>
          ))}{' '}
          {targets || targetSelector ? `for ${describeTargets({ targets, targetSelector })}` : 'for any target'}{' '}
          <span className="quiet">as {actor}</span>
        </dd>
        <dt>Since</dt>
        <dd>
          <Since at={connectedAt} />, seen <Since at={seenAt} /> ago
        </dd>
        <dt>Claimed</dt>
        <dd>{claimed.length === 0 ? 'nothing' : `${plural(claimed.length, 'piece')} of work`}</dd>
      </dl>
      {claimed.length > 0 && (
        <ul className="things" aria-label={`Work of ${name} ${instance}`}>
          {claimed.slice(0, SHOWN).map((object) => (
            <li key={object.id}>
              <span className="thing-name">
                <WorkLink object={object} />
              </span>
              <span className="thing-end">
                <Phase phase={object.phase} /> <Since at={object.phaseSince} />
              </span>
              {!connected && object.agent?.leaseUntil && (
                <span className="thing-why">
                  its lease ends <Until at={object.agent.leaseUntil} />
                </span>
              )}
            </li>
          ))}
          {claimed.length > SHOWN && (
            <li className="quiet">and {(claimed.length - SHOWN).toLocaleString('en')} more</li>
          )}
        </ul>
      )}
    </section>
  )
}
