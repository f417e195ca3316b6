import { CLASS_SYMBOLS, PHASE_CLASSES } from 'phaseline/client-model'
import { Link } from 'wouter'
import { families } from '../../families/index.ts'
import { type Counts, totalOf } from '../../model/counts.ts'
import { classOf, humanKind, type KnownFamily, knownFamilies } from '../../model/known.ts'
import { createHref, objectsHref } from '../../ui/links.ts'

/** Number of objects of each kind in each phase; each count leads to its list. */
export function CountsTable({ counts, project }: { readonly counts: Counts; readonly project: string }) {
  const isThere = ({ kinds }: KnownFamily): boolean => kinds.some(({ kind }) => totalOf(counts.get(kind)) > 0)
  const known = knownFamilies()
  const [used, unused] = [known.filter(isThere), known.filter((family) => !isThere(family))]
  return (
    <>
      {used.length > 0 && <Counted counts={counts} families={used} project={project} />}
      {unused.length > 0 && (
        <p className="quiet unused">
          {used.length > 0 ? 'Nothing yet of ' : 'There is nothing yet. Begin with '}
          {unused.map((family, i) => (
            <span key={family.name}>
              {i > 0 && ', '}
              <Begin family={family} />
            </span>
          ))}
          .
        </p>
      )}
    </>
  )
}

/** A link to the form of the kind, if the dashboard has one. */
function Begin({ family: { name, title } }: { readonly family: KnownFamily }) {
  const form = families().find((family) => family.name === name)?.firstForm
  return form ? <Link href={createHref(form)}>{title.toLowerCase()}</Link> : title.toLowerCase()
}

interface CountedProps {
  readonly counts: Counts
  readonly families: readonly KnownFamily[]
  readonly project: string
}
function Counted({ counts, families, project }: CountedProps) {
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
      {families.map(({ name, title, kinds }) => (
        <tbody key={name}>
          <tr className="family">
            <th scope="rowgroup" colSpan={3}>
              {title}
            </th>
          </tr>
          {kinds.map(({ kind }) => (
            <tr key={kind}>
              <th scope="row">
                <Link href={objectsHref({ kinds: [kind], project })}>{humanKind(kind)}</Link>
              </th>
              <td className="number">{totalOf(counts.get(kind)).toLocaleString('en')}</td>
              <td>
                <Phases kind={kind} phases={counts.get(kind)} project={project} />
              </td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  )
}

interface PhasesProps {
  readonly kind: string
  readonly phases: ReadonlyMap<string, number> | undefined
  readonly project: string
}
function Phases({ kind, phases, project }: PhasesProps) {
  const some = [...(phases ?? [])]
    .filter(([, count]) => count > 0)
    .toSorted(([a], [b]) => PHASE_CLASSES.indexOf(classOf(a)) - PHASE_CLASSES.indexOf(classOf(b)))
  if (some.length === 0) return <span className="quiet">none</span>
  return (
    <span className="chips">
      {some.map(([phase, count]) => (
        <Link
          key={phase}
          className={`phase is-${classOf(phase).toLowerCase()}`}
          href={objectsHref({ kinds: [kind], phases: [phase], project })}
          data-count={`${kind}:${phase}`}
        >
          <span aria-hidden="true">{CLASS_SYMBOLS[classOf(phase)]}</span> {phase} <b>{count.toLocaleString('en')}</b>
        </Link>
      ))}
    </span>
  )
}
