import { Link } from 'wouter'
import type { OverviewStore, Tree } from '../../data/overview-store.ts'
import { humanKind } from '../../model/known.ts'
import { lastRunOf } from '../../model/last-run.ts'
import type { Pair } from '../../model/pairs.ts'
import { duration } from '../../model/words.ts'
import { ExportedLinks } from '../../ui/exported-links.tsx'
import { Labels } from '../../ui/labels.tsx'
import { objectsHref, treeHref } from '../../ui/links.ts'
import { Paused, Pending } from '../../ui/pending.tsx'
import { Phase, Since } from '../../ui/phase.tsx'
import { useExports } from '../../ui/use-exports.ts'
import { More, Section } from './parts.tsx'

const COLUMNS = ['Tree', 'Labels', 'Phase', 'Last run', 'Duration', 'By']

/** The trees whose roots have changed last, and links to what they export. */
export function TreesTable({ overview, project }: { readonly overview: OverviewStore; readonly project: string }) {
  const { trees, treesTotal, projectsTotal } = overview
  const hasProject = project === '' && projectsTotal > 1
  const exports = useExports(trees)
  const hrefOf = (label: Pair): string => objectsHref({ roots: true, project, labels: [label] })
  const href = objectsHref({ roots: true, project, order: { field: 'PHASE_SINCE', direction: 'DESC' } })
  return (
    <Section
      id="trees"
      title="Trees"
      count={treesTotal}
      all={{ label: 'All trees', href }}
      none={trees.length > 0 ? null : 'There are no trees.'}
    >
      <table className="trees">
        <thead>
          <tr>
            {(hasProject ? ['Project', ...COLUMNS] : COLUMNS).map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {trees.map((tree) => (
            <TreeRow key={tree.id} tree={tree} exports={exports.get(tree.id)} {...{ hrefOf, hasProject }} />
          ))}
        </tbody>
      </table>
      <More count={treesTotal - trees.length} noun="tree" href={href} />
    </Section>
  )
}

interface RowProps {
  readonly tree: Tree
  readonly exports: unknown
  readonly hrefOf: (label: Pair) => string
  readonly hasProject: boolean
}
function TreeRow({ tree, exports, hrefOf, hasProject }: RowProps) {
  const { id, name, kind, phase, project, labels, pendingRequests, pause } = tree
  const { cause, startedAt, by, durationMs } = lastRunOf(tree)
  return (
    <tr data-tree={name}>
      {hasProject && (
        <td className="tree-project" title={project.name}>
          {project.name}
        </td>
      )}
      <th scope="row">
        <Link href={treeHref(id)}>{name}</Link> <span className="quiet">{humanKind(kind)}</span>{' '}
        <ExportedLinks exports={exports} />
      </th>
      <td>{labels.length > 0 && <Labels labels={labels} hrefOf={hrefOf} />}</td>
      <td className="tree-phase">
        <Phase phase={phase} /> <Pending requests={pendingRequests} /> <Paused pause={pause} />
      </td>
      <td>
        {cause} <Since at={startedAt} /> ago
      </td>
      <td className="number tree-duration">
        {durationMs === null ? <Since at={startedAt} /> : durationMs !== undefined && duration(durationMs)}
      </td>
      <td className="tree-by" title={by ?? undefined}>
        {by}
      </td>
    </tr>
  )
}
