import { Link } from 'wouter'
import type { HistoryStore } from '../../data/history-store.ts'
import type { TreeStore } from '../../data/tree-store.ts'
import { countPhases, humanKind } from '../../model/known.ts'
import type { Row } from '../../model/object.ts'
import { TREE_VIEWS, type TreePlace, type TreeView } from '../../model/tree-place.ts'
import { plural } from '../../model/words.ts'
import { placeHref } from '../../ui/links.ts'
import { Paused } from '../../ui/pending.tsx'
import { CountsByClass, Phase, Since } from '../../ui/phase.tsx'
import { Problem } from '../../ui/states.tsx'

interface Props {
  readonly tree: TreeStore
  readonly history: HistoryStore
  readonly place: TreePlace
  /** Rows of the present, or of the shown moment. */
  readonly rows: ReadonlyMap<string, Row>
  /** The slider through the log is shown. */
  readonly hasSlider: boolean
  readonly onSlider: () => void
  readonly onCritical: (critical: boolean) => void
}

export function TreeHead({ tree, history, place, rows, hasSlider, onSlider, onCritical }: Props) {
  const { rootId, gone } = tree.model
  const root = rows.get(rootId)
  const known = root ?? tree.model.root ?? history.timeline.lanes.get(rootId)
  const project = tree.model.root?.project.name ?? history.timeline.last?.projectName
  return (
    <div className="tree-head">
      <h1>{known?.name}</h1>
      <span className="quiet tree-in" title={project}>
        {known && humanKind(known.kind)} in {project}
      </span>
      {root ? (
        <Phase phase={root.phase} />
      ) : (
        <span className="phase is-removing">∅ {place.at === null ? 'GONE' : 'not there'}</span>
      )}
      {root && place.at === null && <Since at={root.phaseSince} />}
      <Paused pause={root?.pause} />
      <Views rootId={rootId} place={place} />
      <button type="button" aria-expanded={hasSlider} onClick={onSlider}>
        History
      </button>
      {place.view !== 'changes' && (
        <button type="button" aria-pressed={place.critical} onClick={() => onCritical(!place.critical)}>
          Critical path
        </button>
      )}
      <span className="tree-counts">
        {place.at === null && tree.awaited !== null ? (
          <span role="status">
            Reading… {rows.size.toLocaleString('en')} of {plural(tree.awaited, 'object')}
          </span>
        ) : (
          rows.size > 0 && plural(rows.size, 'object')
        )}{' '}
        <CountsByClass counts={countPhases([...rows.values()].map(({ phase }) => phase))} />
        {place.at === null && gone > 0 && <span className="quiet"> {plural(gone, 'object')} gone</span>}
      </span>
      {tree.error && <Problem message={tree.error} />}
      {history.error && <Problem message={history.error} />}
    </div>
  )
}

const NAMES: Readonly<Record<TreeView, string>> = { graph: 'Graph', timeline: 'Timeline', changes: 'Changes' }

function Views({ rootId, place }: { readonly rootId: string; readonly place: TreePlace }) {
  return (
    <nav className="views" aria-label="Views of the tree">
      {TREE_VIEWS.map((view) => (
        <Link
          key={view}
          // Changes up to now have no time in the past.
          href={placeHref(rootId, { ...place, view, ...(view === 'changes' && { at: null }) })}
          aria-current={view === place.view ? 'page' : undefined}
        >
          {NAMES[view]}
        </Link>
      ))}
    </nav>
  )
}
