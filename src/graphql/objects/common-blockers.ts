import type { AgentBlocker, BackoffBlocker, ChildrenBlocker, LimitBlocker, ObjectBlocker } from '../../core/blocker.ts'
import type { BlockerReason } from '../../core/vocabulary.ts'
import type { BlockerValue } from '../family.ts'
import { objectLoader, objectOf } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { BlockerRef, TreeObjectRef } from '../schema/refs.ts'

/** Blockers that more than one family has. */

type Named<Blocker> = Blocker & Pick<BlockerValue, '__typename'>

/** As the API shows it: `NOT_IN_JOB` is a `NotInJobBlocker`. */
export function blockerValue<Blocker extends Omit<BlockerValue, '__typename'>>(blocker: Blocker): Named<Blocker> {
  const words = blocker.reason.split('_').map((word) => `${word.charAt(0)}${word.slice(1).toLowerCase()}`)
  return { ...blocker, __typename: `${words.join('')}Blocker` }
}

builder.objectRef<Named<AgentBlocker>>('AgentBlocker').implement({
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

export const pointingBlocker = (name: string, description: string) =>
  builder.objectRef<Named<ObjectBlocker<BlockerReason>>>(name).implement({
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

builder.objectRef<Named<BackoffBlocker>>('BackoffBlocker').implement({
  description: 'An attempt failed, and the next one is made at the time in `until`.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    until: t.expose('until', { type: 'DateTime', description: 'When the work is offered again.' }),
  }),
})

builder.objectRef<Named<LimitBlocker>>('LimitBlocker').implement({
  description:
    'A limit is used up or paused: the object starts once another one that holds it has ended, or the time of its rate has come.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    limitName: t.exposeString('limit', {
      description: 'Name of the limit, or `project/name` of one that another project shares.',
    }),
    key: t.exposeString('key', { description: 'Key with which the object asks for it; empty: none.' }),
    position: t.exposeInt('position', {
      description: 'Place among the objects of its kind that wait with this key, from 1.',
    }),
    holderCount: t.exposeInt('holderCount', {
      description: 'Number of objects that hold it: those with this key if its bound for each key is reached.',
    }),
    expectedAt: t.expose('expectedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'It starts no earlier, because of a rate or an override; null: the time is not known, since only ends of others decide.',
    }),
    holders: t.field({
      type: [TreeObjectRef],
      nullable: { list: false, items: true },
      description:
        'Objects that hold it: those with this key if its bound for each key is reached. At most ten, earliest first; null for one that the viewer may not read.',
      resolve: ({ holderIds }, _, context) => holderIds.map((id) => objectLoader(context).load(id)),
    }),
  }),
})

builder.objectRef<Named<ChildrenBlocker>>('ChildrenBlocker').implement({
  description: 'Children have not ended the running job.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    open: t.exposeInt('open', { description: 'Count of direct children that have not ended the running job.' }),
  }),
})
