import { ListStore } from '../../data/list-store.ts'
import { ALL_OBJECTS, type ObjectFilter } from '../../model/filter.ts'
import { ExportedLinks } from '../../ui/exported-links.tsx'
import { objectsHref } from '../../ui/links.ts'
import { Phase, Since } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Problem } from '../../ui/states.tsx'
import { useExports } from '../../ui/use-exports.ts'
import { Name, SectionTitle } from './parts.tsx'

const SHOWN = 8

/** The trees whose roots have changed last, and where what they have made can be seen. */
export function LatestTrees({ project }: { readonly project: string }) {
  const filter: ObjectFilter = {
    ...ALL_OBJECTS,
    roots: true,
    project,
    order: { field: 'PHASE_SINCE', direction: 'DESC' },
  }
  const list = useLive(`latest ${project}`, (session, signal) => new ListStore(session, filter, signal, SHOWN))
  const rows = (list?.rows ?? []).slice(0, SHOWN)
  const exports = useExports(rows)
  if (list?.loaded && rows.length === 0) return null
  return (
    <section className="card wide" aria-labelledby="latest">
      <SectionTitle id="latest" title="Latest trees" count={list?.total ?? null} href={objectsHref(filter)} />
      {list?.error && <Problem message={list.error} onRetry={list.retry} />}
      <ul className="things">
        {rows.map((row) => (
          <li key={row.id}>
            <span className="thing-name">
              <Name row={row} /> <ExportedLinks exports={exports.get(row.id)} />
            </span>
            <span className="thing-end">
              <Phase phase={row.phase} /> <Since at={row.phaseSince} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
