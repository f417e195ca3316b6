import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { CLASS_LABELS, CLASS_SYMBOLS } from 'phaseline/client-model'
import { memo } from 'react'
import { classOf, humanKind } from '../../model/known.ts'
import { exactly } from '../../model/moment.ts'
import type { Row } from '../../model/object.ts'
import type { GraphObject } from '../../model/tree-graph.ts'
import type { Size } from '../../ui/area.ts'
import { Pending } from '../../ui/pending.tsx'
import { CountsByClass } from '../../ui/phase.tsx'
import { Age } from './age.tsx'
import { HeatMap, type HeatMapProps } from './heat-map.tsx'
import { ClassBar, FoldButton, useCounts } from './node-parts.tsx'
import { useFacts, useMarks, useRow, useRunMs, useTreeView } from './tree-context.ts'

/** The data of a node of the drawing. */
export interface NodeData<N> extends Record<string, unknown> {
  readonly node: N
  readonly path: string
  /** The kind has room beside the name. */
  readonly hasKind: boolean
  /** The kind has a line of its own. */
  readonly isRoomy: boolean
  /** The room of the heat map of what is folded. */
  readonly heat: Size | null
}
type ObjectNodeType = Node<NodeData<GraphObject>, 'object'>

export const ObjectNode = memo(({ id, data }: NodeProps<ObjectNodeType>) => {
  const { node, path, isRoomy, hasKind, heat } = data
  const { selected, isStop, isCritical } = useMarks(id)
  const row = useRow(id)
  const { onSelect, onDrawn } = useTreeView()
  const facts = useFacts(id)
  if (!row) return null
  const look = classOf(row.phase)
  const kind = humanKind(row.kind)
  // The progress of an attempt ends with it.
  const progress = (look !== 'DONE' && facts?.progress) || null
  // A head has one line.
  const isLong = isRoomy && node.state !== 'open'
  const moment = node.state === 'closed' ? <Folded ids={node.folded} /> : <Moment row={row} progress={progress} />
  return (
    <div
      className={`node is-${look.toLowerCase()}${selected ? ' selected' : ''}${isCritical ? ' critical' : ''}${node.state === 'open' ? ' around' : ''}${heat ? ' heated' : ''}`}
      data-object={id}
      data-phase={row.phase}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className="node-main"
        ref={(button) => onDrawn(id, button)}
        tabIndex={isStop ? 0 : -1}
        aria-pressed={selected}
        title={`${path}, ${kind}`}
        onClick={(event) => {
          event.stopPropagation()
          onSelect(id)
        }}
      >
        <span className="node-symbol" title={CLASS_LABELS[look]} aria-hidden="true">
          {CLASS_SYMBOLS[look]}
        </span>
        <span className="node-text">
          <span className="node-title">
            <span className="node-name">{row.name}</span>
            {hasKind && <span className="node-kind">{kind}</span>}
          </span>
          <span className="hidden">
            {!hasKind && !isRoomy && node.state !== 'open' && kind}{' '}
            {path !== row.name && `in ${path.slice(0, -row.name.length - 1)}`}
            {isCritical && ', on the critical path'}
          </span>
          <span className="node-state">
            <b>{row.phase}</b>
            {node.state === 'open' && <span>{kind}</span>}
            {facts?.attempt && <span title="Attempt">{facts.attempt}</span>}
            <Pending requests={row.pendingRequests} />
            {!isLong && moment}
            <RunTime row={row} />
          </span>
          {isLong && (
            <span className="node-state">
              <span>{kind}</span>
              {moment}
            </span>
          )}
          {node.state === 'closed' && !heat && <FoldedBar ids={node.folded} />}
        </span>
      </button>
      {heat && <FoldedHeat ids={node.folded} room={heat} name={row.name} isStop={isStop} />}
      <FoldButton node={node} name={row.name} isStop={isStop} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
})
ObjectNode.displayName = 'ObjectNode'

const Folded = ({ ids }: { readonly ids: readonly string[] }) => <CountsByClass counts={useCounts(ids)} />
const FoldedBar = ({ ids }: { readonly ids: readonly string[] }) => <ClassBar counts={useCounts(ids)} />
const FoldedHeat = (props: Omit<HeatMapProps, 'counts'>) => <HeatMap {...props} counts={useCounts(props.ids)} />

function Moment({ row, progress }: { readonly row: Row; readonly progress: string | null }) {
  return progress ? <span title="Progress">{progress}</span> : <Age at={row.phaseSince} />
}

function RunTime({ row: { id, finished } }: { readonly row: Row }) {
  const runMs = useRunMs(id)
  return finished && runMs !== null && <span title="Duration of its last run">{exactly(runMs)}</span>
}
