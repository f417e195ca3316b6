import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { memo } from 'react'
import { plural } from '../../model/words.ts'
import { FoldedCounts } from './object-node.tsx'
import { useTreeView } from './tree-context.ts'

type GroupNodeType = Node<{ readonly members: readonly string[] }, 'group'>

/** A group of siblings that have no room one by one. */
export const GroupNode = memo(({ id, data }: NodeProps<GroupNodeType>) => {
  const { onFold } = useTreeView()
  return (
    <div className="node group">
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className="node-main"
        title="Show some of them one by one"
        onClick={(event) => {
          event.stopPropagation()
          onFold(id, 'open')
        }}
      >
        <span className="node-text">
          <span className="node-name">{plural(data.members.length, 'object')}</span>
          <FoldedCounts ids={data.members} />
        </span>
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
})
GroupNode.displayName = 'GroupNode'
