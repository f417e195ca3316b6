import { plural } from '../../../model/words.ts'
import { Phase } from '../../../ui/phase.tsx'
import type { HoldUp } from '../model/lock-queues.ts'
import { JobLink } from './job-link.tsx'

const SHOWN = 8

/** Jobs that block others: those that wait for no lock themselves are the cause. */
export function HoldUps({ holdUps }: { readonly holdUps: readonly HoldUp[] }) {
  if (holdUps.length === 0) return null
  return (
    <section className="card" aria-labelledby="hold-ups">
      <h2 id="hold-ups">Blocks others</h2>
      <ul className="things">
        {holdUps.slice(0, SHOWN).map(({ object, resources, waiting, isRoot }) => (
          <li key={object.id}>
            <span className="thing-name">
              <JobLink object={object} />
            </span>
            <span className="thing-end">
              <b>{plural(waiting, 'job')}</b> {waiting === 1 ? 'waits' : 'wait'} for it <Phase phase={object.phase} />
            </span>
            <span className="thing-why">
              holds {resources.slice(0, 5).join(', ')}
              {resources.length > 5 && ` and ${resources.length - 5} more`}
              {!isRoot && ', and waits for others itself'}
            </span>
          </li>
        ))}
      </ul>
      {holdUps.length > SHOWN && <p className="quiet">and {plural(holdUps.length - SHOWN, 'more job')}</p>}
    </section>
  )
}
