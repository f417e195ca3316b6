import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { PHASE_CLASSES } from 'phaseline/client-model'
import { memo } from 'react'
import type { GraphGroup } from '../../model/tree-graph.ts'
import { plural } from '../../model/words.ts'
import { CountsByClass } from '../../ui/phase.tsx'
import { HeatMap } from './heat-map.tsx'
import { ClassBar, FoldButton, useCounts } from './node-parts.tsx'
import type { NodeData } from './object-node.tsx'
import { useMarks, useTreeView } from './tree-context.ts'

type GroupNodeType = Node<NodeData<GraphGroup>, 'siblings'>

/** Siblings that have no room one by one, in the look of the worst of them. */
export const GroupNode = memo(({ id, data: { node, heat } }: NodeProps<GroupNodeType>) => {
  const { isStop, isCritical } = useMarks(id)
  const { onFold, onDrawn } = useTreeView()
  const counts = useCounts(node.folded)
  const isOpen = node.state === 'open'
  const worst = PHASE_CLASSES.find((one) => counts[one] > 0)
  return (
    <div
      className={`node group${worst ? ` is-${worst.toLowerCase()}` : ''}${isCritical ? ' critical' : ''}${isOpen ? ' around' : ''}${heat ? ' heated' : ''}`}
      data-group={id}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className="node-main"
        ref={(button) => onDrawn(id, button)}
        tabIndex={isStop ? 0 : -1}
        aria-expanded={isOpen}
        title={`${isOpen ? 'Close' : 'Open'} ${node.name}`}
        onClick={(event) => {
          event.stopPropagation()
          onFold(node, isOpen ? 'closed' : 'open')
        }}
      >
        <span className="node-text">
          <span className="node-name">{node.name}</span>
          {!isOpen && <span className="hidden">{plural(node.size, 'object')}</span>}
          <span className="node-state">{isOpen ? plural(node.size, 'object') : <CountsByClass counts={counts} />}</span>
          {!isOpen && !heat && <ClassBar counts={counts} />}
        </span>
      </button>
      {heat && <HeatMap ids={node.folded} room={heat} counts={counts} name={node.name} isStop={isStop} />}
      <FoldButton node={node} name={node.name} isStop={isStop} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
})
GroupNode.displayName = 'GroupNode'
