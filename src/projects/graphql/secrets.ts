import { RIGHTS } from '../../core/rights.ts'
import { deletedRecord } from '../../graphql/objects/project-record.ts'
import { builder } from '../../graphql/schema/builder.ts'
import { answer } from '../../graphql/schema/errors.ts'
import { commandResult } from '../../graphql/schema/result-union.ts'
import { projectCommands } from '../commands/index.ts'
import { SecretRef } from './project-settings.ts'

const deleted = deletedRecord('DeletedSecret', 'a secret')

builder.mutationField('setSecret', (t) =>
  t.fieldWithInput({
    right: RIGHTS.setSecret,
    ...commandResult('SetSecretResult', SecretRef, projectCommands.setSecret),
    description:
      'Creates a secret, or replaces its value; events that exist keep the one of before. Refused beyond 256 secrets or 512 KiB of values in a project (LIMIT), and without PHASELINE_SECRET_KEY on the server.',
    typeOptions: { description: 'The secret to set.' },
    input: {
      project: t.input.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of its project.',
      }),
      name: t.input.string({
        required: true,
        limit: 'variable',
        description:
          'Name of its environment variable: a letter or _, then letters, digits or _, not starting with PHASELINE_.',
      }),
      value: t.input.string({
        required: true,
        limit: 'argument',
        description: 'Text, not empty. It cannot be read again.',
      }),
    },
    resolve: (_, { input }, context) =>
      answer(context.projects.setSecret(context.viewer, input), ({ name, updatedAt }) => ({
        __typename: 'Secret' as const,
        name,
        updatedAt,
      })),
  }),
)
builder.mutationField('deleteSecret', (t) =>
  t.fieldWithInput({
    right: RIGHTS.deleteSecret,
    ...commandResult('DeleteSecretResult', deleted.ref, projectCommands.deleteSecret),
    description: 'Deletes a secret of a project; events that exist keep it.',
    typeOptions: { description: 'The secret to delete.' },
    input: {
      project: t.input.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of its project.',
      }),
      name: t.input.string({ required: true, limit: 'reference', description: 'Name of the secret.' }),
    },
    resolve: (_, { input }, context) => answer(context.projects.deleteSecret(context.viewer, input), deleted.of),
  }),
)
