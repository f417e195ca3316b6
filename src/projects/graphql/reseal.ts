import { RIGHTS } from '../../core/rights.ts'
import { builder } from '../../graphql/schema/builder.ts'
import { answer } from '../../graphql/schema/errors.ts'
import { commandResult } from '../../graphql/schema/result-union.ts'
import { projectCommands } from '../commands/index.ts'
import type { ResealedSecrets, SealingKey } from '../commands/reseal.ts'

const SealingKeyRef = builder.objectRef<SealingKey>('SealingKey').implement({
  description: 'A key that seals secrets. The key itself cannot be read.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Eight hexadecimal digits, from a digest of the key.' }),
    newest: t.exposeBoolean('isNewest', { description: 'True if the server seals with it.' }),
    known: t.exposeBoolean('isKnown', {
      description: 'True if the server has it; false: what it has sealed does not open.',
    }),
    sealed: t.exposeInt('count', {
      description:
        'Number of secrets of projects, of their copies that events have, and of credentials of targets that are sealed with it.',
    }),
  }),
})

const ResealedSecretsRef = builder
  .objectRef<ResealedSecrets & { readonly __typename: 'ResealedSecrets' }>('ResealedSecrets')
  .implement({
    description: 'The resealed secrets, and those that each key still has sealed.',
    fields: (t) => ({
      resealed: t.exposeInt('resealed', {
        description: 'Number of secrets, copies and credentials that this request has resealed.',
      }),
      complete: t.exposeBoolean('isComplete', {
        description: 'False: there may be more; send the request again.',
      }),
      keys: t.field({
        type: [SealingKeyRef],
        description:
          'Keys of the server, the newest first, and then others that secrets are sealed with. A key without any can be removed.',
        resolve: ({ keys }) => [...keys],
      }),
    }),
  })

builder.mutationField('resealSecrets', (t) =>
  t.field({
    right: RIGHTS.resealSecrets,
    ...commandResult('ResealSecretsResult', ResealedSecretsRef, projectCommands.resealSecrets),
    description:
      'Seals with the newest key what older keys of the server have sealed, about 1,000 secrets a request; safe to repeat, and beside everything else.',
    resolve: (_, __, context) =>
      answer(context.projects.resealSecrets(context.viewer), (resealed) => ({
        __typename: 'ResealedSecrets' as const,
        ...resealed,
      })),
  }),
)
