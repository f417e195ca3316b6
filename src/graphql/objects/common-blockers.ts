import type { BlockerValue } from '../family.ts'
import { objectOf } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { BlockerRef, TreeObjectRef } from '../schema/refs.ts'

/** Blockers that more than one family has. */

export interface AgentBlockerValue extends BlockerValue {
  readonly types: readonly string[]
  readonly connected: boolean
}
builder.objectRef<AgentBlockerValue>('AgentBlocker').implement({
  description: 'An agent has to claim the work, or to come back and report it.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    types: t.stringList({
      description: 'Types of work, of which an agent must serve one.',
      resolve: ({ types }) => [...types],
    }),
    connected: t.exposeBoolean('connected', {
      description: 'True if such an agent called within the last minute.',
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
        description: 'The object that is waited for; null once it is deleted, or if the viewer may not read it.',
        resolve: objectOf,
      }),
    }),
  })
pointingBlocker('DependencyBlocker', 'Another object must be done first, or gone first in a deletion.')
pointingBlocker('ParentBlocker', 'The parent has not come far enough to start the object.')

builder.objectRef<BlockerValue & { readonly open: number }>('ChildrenBlocker').implement({
  description: 'Children have not ended the running job.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    open: t.exposeInt('open', { description: 'Count of direct children that have not ended the running job.' }),
  }),
})
