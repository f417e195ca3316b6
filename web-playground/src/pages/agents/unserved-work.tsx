import { plural } from '../../model/words.ts'
import type { Unserved } from '../../model/work.ts'
import { Since } from '../../ui/phase.tsx'
import { WorkLink } from './work-link.tsx'

const SHOWN = 5

interface Props {
  readonly unserved: readonly Unserved[]
  /** There are more unfinished objects than were read. */
  readonly isPart: boolean
}

/** Work that no connected agent takes, at the top of the page. */
export function UnservedWork({ unserved, isPart }: Props) {
  if (unserved.length === 0) return null
  return (
    <section className="card is-failed unserved" aria-labelledby="unserved">
      <h2 id="unserved">✗ No agent for this work</h2>
      <p className="quiet">It waits until an agent of the type connects.</p>
      <ul className="things">
        {unserved.map(({ type, objects }) => (
          <li key={type}>
            <span className="thing-name">
              <code>{type}</code> {isPart && 'at least '}
              {plural(objects.length, 'object')} {objects.length === 1 ? 'waits' : 'wait'}
            </span>
            <span className="thing-end">
              {objects[0] && (
                <>
                  for <Since at={objects[0].phaseSince} />
                </>
              )}
            </span>
            <span className="thing-why">
              {objects.slice(0, SHOWN).map((object) => (
                <span key={object.id} className="work-item">
                  <WorkLink object={object} />
                </span>
              ))}
              {objects.length > SHOWN && ` and ${(objects.length - SHOWN).toLocaleString('en')} more`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
