import { Link } from 'wouter'
import type { CriticalPath } from '../../model/critical-path.ts'
import { exactly } from '../../model/moment.ts'
import type { TreePlace } from '../../model/tree-place.ts'
import { plural } from '../../model/words.ts'
import { placeHref } from '../../ui/links.ts'

interface Props {
  readonly rootId: string
  readonly place: TreePlace
  readonly path: CriticalPath
  readonly nameOf: (id: string) => string | undefined
}
/** The most objects that it names. */
const NAMED = 5

/** The objects that account for most of the last run. */
export function PathSummary({ rootId, place, path: { steps }, nameOf }: Props) {
  const whole = [...steps.values()].reduce((sum, ms) => sum + ms, 0)
  const named = [...steps]
    .filter(([, ms]) => ms > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, NAMED)
  return (
    <section className="path-summary" aria-label="Critical path">
      {steps.size === 0 ? (
        <p role="status">No run of this tree is known, so there is no critical path.</p>
      ) : (
        <>
          <p role="status">
            <b>Critical path</b> of {exactly(whole)}, {plural(steps.size, 'object')}; most of it:
          </p>
          <ol>
            {named.map(([id, ms]) => (
              <li key={id}>
                <Link href={placeHref(rootId, { ...place, object: id })}>{nameOf(id) ?? id}</Link> {exactly(ms)}
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  )
}
