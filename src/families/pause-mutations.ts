import { RIGHTS } from '../core/rights.ts'
import type { ObjectRow } from '../core/tree.ts'
import { IF_UNCHANGED } from '../graphql/objects/object-version.ts'
import { writeObject } from '../graphql/objects/write-object.ts'
import { builder } from '../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../graphql/schema/descriptions.ts'
import { dropUndefined } from '../graphql/schema/drop-undefined.ts'
import { TreeObjectRef } from '../graphql/schema/refs.ts'
import { commandResult } from '../graphql/schema/result-union.ts'
import type { Bound } from './command.ts'
import { pauseCommands } from './pause.ts'

declare module '../graphql/context.ts' {
  interface FamilyServices extends Bound<typeof pauseCommands> {}
}

const PausedTreeRef = builder
  .objectRef<{ readonly __typename: 'PausedTree'; readonly row: ObjectRow }>('PausedTree')
  .implement({
    description: 'Confirms that a tree is paused, or is not any more.',
    fields: (t) => ({
      object: t.field({
        type: TreeObjectRef,
        nullable: true,
        description: 'The root of the tree as it is now; null once it is deleted.',
        resolve: ({ row }) => row,
      }),
    }),
  })
const paused = (row: ObjectRow) => ({ __typename: 'PausedTree' as const, row })
const ID = 'Id of the root of the tree: an installation, an event, a task or a cloudlet.'

builder.mutationField('pause', (t) =>
  t.fieldWithInput({
    right: RIGHTS.pause,
    ...commandResult('PauseResult', PausedTreeRef, pauseCommands.pause),
    description:
      'Pauses a tree. Work that an agent has continues, and so do cancellations, undoing and clean-up; nothing else is handed to agents, no slot and no lock is taken, and no job begins. Later requests for jobs wait. Paused again, it gets the new reason.',
    typeOptions: { description: 'The tree to pause, and why.' },
    input: {
      id: t.input.id({ required: true, description: ID }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      reason: t.input.string({ limit: 'reason', description: 'Shown while it is paused. Left out or null: none.' }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: async (_, { input }, context) => {
      const written = await writeObject(context, input.id, () => context.pause(context.viewer, dropUndefined(input)))
      return '__typename' in written ? written : paused(written)
    },
  }),
)
builder.mutationField('resume', (t) =>
  t.fieldWithInput({
    right: RIGHTS.pause,
    ...commandResult('ResumeResult', PausedTreeRef, pauseCommands.resume),
    description:
      'Ends the pause of a tree. Work that was held back is offered with the time that its clock had left, and jobs that were requested meanwhile begin. A tree that is not paused stays as it is.',
    typeOptions: { description: 'The tree to resume.' },
    input: {
      id: t.input.id({ required: true, description: ID }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: async (_, { input }, context) => {
      const written = await writeObject(context, input.id, () => context.resume(context.viewer, dropUndefined(input)))
      return '__typename' in written ? written : paused(written)
    },
  }),
)
