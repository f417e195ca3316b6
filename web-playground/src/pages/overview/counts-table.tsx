import { Link } from 'wouter'
import { type Counts, totalOf } from '../../model/counts.ts'
import { classOf, PHASE_CLASSES, SYMBOLS } from '../../model/phases.ts'
import { FAMILIES, humanKind } from '../../model/words.ts'
import { objectsHref } from '../../ui/links.ts'

/** How many there are of each kind in each phase; each count leads to its list. */
export function CountsTable({ counts }: { readonly counts: Counts }) {
  const isThere = ({ kinds }: Family): boolean => kinds.some((kind) => totalOf(counts.get(kind)) > 0)
  const [used, unused] = [FAMILIES.filter(isThere), FAMILIES.filter((family) => !isThere(family))]
  return (
    <>
      {used.length > 0 && <Counted counts={counts} families={used} />}
      {unused.length > 0 && (
        <p className="quiet unused">
          {used.length > 0 ? 'Nothing yet of ' : 'There is nothing yet. Begin with '}
          {unused.map(({ name, first }, i) => (
            <span key={name}>
              {i > 0 && ', '}
              <Link href={`/create/${first}`}>{name.toLowerCase()}</Link>
            </span>
          ))}
          .
        </p>
      )}
    </>
  )
}

type Family = (typeof FAMILIES)[number]

interface CountedProps {
  readonly counts: Counts
  readonly families: readonly Family[]
}
function Counted({ counts, families }: CountedProps) {
  return (
    <table className="counts">
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col" className="number">
            Objects
          </th>
          <th scope="col">Phases</th>
        </tr>
      </thead>
      {families.map(({ name, kinds }) => (
        <tbody key={name}>
          <tr className="family">
            <th scope="rowgroup" colSpan={3}>
              {name}
            </th>
          </tr>
          {kinds.map((kind) => (
            <tr key={kind}>
              <th scope="row">
                <Link href={objectsHref({ kinds: [kind] })}>{humanKind(kind)}</Link>
              </th>
              <td className="number">{totalOf(counts.get(kind)).toLocaleString('en')}</td>
              <td>
                <Phases kind={kind} phases={counts.get(kind)} />
              </td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  )
}

function Phases({ kind, phases }: { readonly kind: string; readonly phases: ReadonlyMap<string, number> | undefined }) {
  const some = [...(phases ?? [])]
    .filter(([, count]) => count > 0)
    .toSorted(([a], [b]) => PHASE_CLASSES.indexOf(classOf(a)) - PHASE_CLASSES.indexOf(classOf(b)))
  if (some.length === 0) return <span className="quiet">none</span>
  return (
    <span className="chips">
      {some.map(([phase, count]) => (
        <Link
          key={phase}
          className={`phase is-${classOf(phase)}`}
          href={objectsHref({ kinds: [kind], phases: [phase] })}
          data-count={`${kind}:${phase}`}
        >
          <span aria-hidden="true">{SYMBOLS[classOf(phase)]}</span> {phase} <b>{count.toLocaleString('en')}</b>
        </Link>
      ))}
    </span>
  )
}
