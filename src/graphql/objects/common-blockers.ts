import type { BlockerValue } from '../family.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { BlockerRef, TreeObjectRef } from '../schema/refs.ts'

/** What objects of more than one family wait for. */

export interface AgentBlockerValue extends BlockerValue {
  readonly types: readonly string[]
  readonly connected: boolean
}
builder.objectRef<AgentBlockerValue>('AgentBlocker').implement({
  description: 'An agent must take it.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    types: t.stringList({ resolve: ({ types }) => [...types] }),
    connected: t.exposeBoolean('connected', {
      description: 'Whether an agent for it was heard of within the last minute.',
    }),
  }),
})

interface PointingValue extends BlockerValue {
  readonly objectId: string
}
export const pointingBlocker = (name: string, description: string) =>
  builder.objectRef<PointingValue>(name).implement({
    description,
    interfaces: [BlockerRef],
    fields: (t) => ({
      object: t.field({
        type: TreeObjectRef,
        nullable: true,
        description: 'Null once it is gone.',
        resolve: ({ objectId }, _, context) => objectLoader(context).load(objectId),
      }),
    }),
  })
pointingBlocker('DependencyBlocker', 'Another object must be done first, or gone first.')
pointingBlocker('ParentBlocker', 'Its parent has not come so far as to start it.')

builder.objectRef<BlockerValue & { readonly open: number }>('ChildrenBlocker').implement({
  description: 'Children have not ended the running job yet.',
  interfaces: [BlockerRef],
  fields: (t) => ({ open: t.exposeInt('open') }),
})
