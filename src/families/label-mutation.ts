import { RIGHTS } from '../core/rights.ts'
import type { ObjectRow } from '../core/tree.ts'
import { LabelInput } from '../graphql/objects/label-input.ts'
import { writeObject } from '../graphql/objects/write-object.ts'
import { builder } from '../graphql/schema/builder.ts'
import { expectedGeneration, IDEMPOTENCY_KEY } from '../graphql/schema/descriptions.ts'
import { dropUndefined } from '../graphql/schema/drop-undefined.ts'
import { TreeObjectRef } from '../graphql/schema/refs.ts'
import { commandResult } from '../graphql/schema/result-union.ts'
import type { Bound } from './command.ts'
import { updateLabelsCommand } from './update-labels.ts'

declare module '../graphql/context.ts' {
  interface FamilyServices extends Bound<{ readonly updateLabels: typeof updateLabelsCommand }> {}
}

const UpdatedLabelsRef = builder
  .objectRef<{ readonly __typename: 'UpdatedLabels'; readonly row: ObjectRow }>('UpdatedLabels')
  .implement({
    description: 'Confirms that the labels of an object are as requested.',
    fields: (t) => ({
      object: t.field({
        type: TreeObjectRef,
        nullable: true,
        description: 'The object as it is now; null once it is deleted.',
        resolve: ({ row }) => row,
      }),
    }),
  })

builder.mutationField('updateLabels', (t) =>
  t.fieldWithInput({
    right: RIGHTS.updateLabels,
    ...commandResult('UpdateLabelsResult', UpdatedLabelsRef, updateLabelsCommand),
    description:
      'Sets and removes labels of an object of any kind, and leaves its other labels as they are. Nothing runs. Refused for more than 64 labels (LIMIT).',
    typeOptions: { description: 'The object, and the changes of its labels.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the object.' }),
      set: t.input.field({
        type: [LabelInput],
        limit: 'labels',
        description: 'Labels to add, or to give another value. Left out or null: none.',
      }),
      remove: t.input.stringList({
        limit: 'labelKeys',
        description: 'Keys of labels to remove; one that is not there changes nothing. Left out or null: none.',
      }),
      expectedGeneration: t.input.int({ description: expectedGeneration('the object') }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: async (_, { input }, context) => {
      const written = await writeObject(context, input.id, () =>
        context.updateLabels(context.viewer, dropUndefined(input)),
      )
      return '__typename' in written ? written : { __typename: 'UpdatedLabels' as const, row: written }
    },
  }),
)
