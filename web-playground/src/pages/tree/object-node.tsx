import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { CLASS_LABELS, CLASS_SYMBOLS } from 'phaseline/client-model'
import { memo } from 'react'
import { classOf, countPhases, humanKind } from '../../model/known.ts'
import { Pending } from '../../ui/pending.tsx'
import { CountsByClass } from '../../ui/phase.tsx'
import { useRow, useTreeView, useVersion } from './tree-context.ts'

interface ObjectData extends Record<string, unknown> {
  readonly folded: readonly string[]
  readonly foldable: boolean
  /** It is drawn around others. */
  readonly contains: boolean
  readonly selected?: boolean
}
type ObjectNodeType = Node<ObjectData, 'object'>

export const ObjectNode = memo(({ id, data }: NodeProps<ObjectNodeType>) => {
  const { selected = false } = data
  const row = useRow(id)
  const { onFold, onSelect } = useTreeView()
  if (!row) return null
  const look = classOf(row.phase)
  const isFolded = data.folded.length > 0
  return (
    <div
      className={`node is-${look.toLowerCase()}${selected ? ' selected' : ''}${data.contains ? ' around' : ''}`}
      data-object={id}
      data-phase={row.phase}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className="node-main"
        aria-pressed={selected}
        onClick={(event) => {
          event.stopPropagation()
          onSelect(id)
        }}
      >
        <span className="node-symbol" title={CLASS_LABELS[look]} aria-hidden="true">
          {CLASS_SYMBOLS[look]}
        </span>
        <span className="node-text">
          <span className="node-name">{row.name}</span>
          <span className="node-kind">
            <b>{row.phase}</b> <span>{humanKind(row.kind)}</span>
          </span>
          <Pending requests={row.pendingRequests} />
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
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
})
ObjectNode.displayName = 'ObjectNode'

export function FoldedCounts({ ids }: { readonly ids: readonly string[] }) {
  const { tree } = useTreeView()
  useVersion(tree)
  return <CountsByClass counts={countPhases(ids.flatMap((id) => tree.model.nodes.get(id)?.phase ?? []))} />
}
