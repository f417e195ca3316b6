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
import { backoffCommands } from './resolve-backoff.ts'

declare module '../graphql/context.ts' {
  interface FamilyServices extends Bound<typeof backoffCommands> {}
}

const ResolvedBackoffRef = builder
  .objectRef<{ readonly __typename: 'ResolvedBackoff'; readonly row: ObjectRow }>('ResolvedBackoff')
  .implement({
    description: 'Confirms that an object does not wait for the time of its next attempt any more.',
    fields: (t) => ({
      object: t.field({
        type: TreeObjectRef,
        nullable: true,
        description: 'The object as it is now; null once it is deleted.',
        resolve: ({ row }) => row,
      }),
    }),
  })
const resolved = (row: ObjectRow) => ({ __typename: 'ResolvedBackoff' as const, row })
const REFUSED = 'An object that does not wait for its next attempt is refused with a TransitionError.'
const ID = 'Id of the object that waits for its next attempt.'

builder.mutationField('retryNow', (t) =>
  t.fieldWithInput({
    right: RIGHTS.retry,
    ...commandResult('RetryNowResult', ResolvedBackoffRef, backoffCommands.retryNow),
    description: `Begins the next attempt at once, or as soon as no agent can be at work on the last one any more. ${REFUSED}`,
    typeOptions: { description: 'The object whose next attempt begins at once.' },
    input: {
      id: t.input.id({ required: true, description: ID }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: async (_, { input }, context) => {
      const written = await writeObject(context, input.id, () => context.retryNow(context.viewer, dropUndefined(input)))
      return '__typename' in written ? written : resolved(written)
    },
  }),
)
builder.mutationField('giveUpRetries', (t) =>
  t.fieldWithInput({
    right: RIGHTS.retry,
    ...commandResult('GiveUpRetriesResult', ResolvedBackoffRef, backoffCommands.giveUpRetries),
    description: `Makes the failure of the last attempt final for the job: the object ends as it would without a retry policy. ${REFUSED}`,
    typeOptions: { description: 'The object that is not attempted again.' },
    input: {
      id: t.input.id({ required: true, description: ID }),
      ifUnchanged: t.input.field(IF_UNCHANGED),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: async (_, { input }, context) => {
      const written = await writeObject(context, input.id, () =>
        context.giveUpRetries(context.viewer, dropUndefined(input)),
      )
      return '__typename' in written ? written : resolved(written)
    },
  }),
)
