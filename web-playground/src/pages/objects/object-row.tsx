import { Link } from 'wouter'
import { humanKind } from '../../model/known.ts'
import type { Row } from '../../model/object.ts'
import { shortDateTime } from '../../ui/exact-time.ts'
import { treeHref } from '../../ui/links.ts'
import { Paused, Pending } from '../../ui/pending.tsx'
import { Phase, Since } from '../../ui/phase.tsx'

interface Props {
  readonly row: Row
  readonly index: number
  readonly start: number
  readonly selected: boolean
  readonly onPick: (id: string, range: boolean) => void
}
export function ObjectRow({ row, index, start, selected, onPick }: Props) {
  const isRoot = row.root.id === row.id
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table's rows cannot be placed where a virtual list wants them
    // biome-ignore lint/a11y/useFocusableInteractive: its link is
    <div
      className={selected ? 'grid-row picked' : 'grid-row'}
      role="row"
      aria-rowindex={index + 2}
      data-object={row.id}
      style={{ transform: `translateY(${start}px)` }}
    >
      <Cell className="cell-pick">
        <label>
          <input
            type="checkbox"
            aria-label={`Select ${row.name}`}
            checked={selected}
            // A change event does not have the shift key.
            onClick={({ shiftKey }) => onPick(row.id, shiftKey)}
            onChange={() => undefined}
          />
        </label>
      </Cell>
      <Cell className="cell-name">
        <Link href={treeHref(row.root.id, row.id)}>{row.name}</Link>
      </Cell>
      <Cell className="cell-kind">{humanKind(row.kind)}</Cell>
      <Cell className="cell-phase">
        <Phase phase={row.phase} /> <Pending requests={row.pendingRequests} />
        {row.parent === null && <Paused pause={row.pause} />}
      </Cell>
      <Cell className="cell-since">
        <Since at={row.phaseSince} />
      </Cell>
      <Cell className="cell-root">{isRoot ? <span className="quiet">root</span> : row.root.name}</Cell>
      <Cell className="cell-project">{row.project.name}</Cell>
      <Cell className="cell-created">{shortDateTime(row.createdAt)}</Cell>
    </div>
  )
}

function Cell({ className, children }: { readonly className: string; readonly children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    <div className={className} role="cell">
      {children}
    </div>
  )
}
