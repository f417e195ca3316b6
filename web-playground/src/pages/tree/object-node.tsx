import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { memo } from 'react'
import { classOf, countClasses, humanKind } from '../../model/known.ts'
import { SYMBOLS, WORDS } from '../../model/phases.ts'
import { CountsByClass } from '../../ui/phase.tsx'
import { useRow, useTreeView, useVersion } from './tree-context.ts'

/** The size in the style sheet. */
export const NODE_SIZE = { width: 180, height: 56 }

type ObjectNodeType = Node<{ readonly folded: readonly string[]; readonly foldable: boolean }, 'object'>

export const ObjectNode = memo(
  ({
    id,
    data,
    selected,
    targetPosition = Position.Left,
    sourcePosition = Position.Right,
  }: NodeProps<ObjectNodeType>) => {
    const row = useRow(id)
    const { onFold, onSelect } = useTreeView()
    if (!row) return null
    const look = classOf(row.phase)
    const isFolded = data.folded.length > 0
    return (
      <div className={`node is-${look}${selected ? ' selected' : ''}`} data-object={id} data-phase={row.phase}>
        <Handle type="target" position={targetPosition} isConnectable={false} />
        <button
          type="button"
          className="node-main"
          aria-pressed={selected}
          onClick={(event) => {
            event.stopPropagation()
            onSelect(id)
          }}
        >
          <span className="node-symbol" title={WORDS[look]} aria-hidden="true">
            {SYMBOLS[look]}
          </span>
          <span className="node-text">
            <span className="node-name">{row.name}</span>
            <span className="node-kind">
              <b>{row.phase}</b> {humanKind(row.kind)}
            </span>
            {isFolded && <FoldedCounts ids={data.folded} />}
          </span>
        </button>
        {data.foldable && (
          <button
            type="button"
            className="node-fold nodrag"
            aria-label={`${isFolded ? 'Unfold' : 'Fold'} ${row.name}`}
            aria-expanded={!isFolded}
            onClick={(event) => {
              event.stopPropagation()
              onFold(id, isFolded ? 'open' : 'closed')
            }}
          >
            {isFolded ? '+' : '–'}
          </button>
        )}
        <Handle type="source" position={sourcePosition} isConnectable={false} />
      </div>
    )
  },
)
ObjectNode.displayName = 'ObjectNode'

export function FoldedCounts({ ids }: { readonly ids: readonly string[] }) {
  const { tree } = useTreeView()
  useVersion(tree)
  return <CountsByClass counts={countClasses(ids.flatMap((id) => tree.model.nodes.get(id)?.phase ?? []))} />
}
