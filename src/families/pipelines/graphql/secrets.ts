import { projectLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { ProjectRef } from '../../../graphql/schema/refs.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { pipelinesCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import { SecretRef } from './project.ts'

interface Deleted {
  readonly __typename: 'DeletedSecret'
  readonly projectId: string
  readonly name: string
}
const DeletedSecretRef = builder.objectRef<Deleted>('DeletedSecret').implement({
  description: 'Confirms that a secret is deleted.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name that the secret had.' }),
    project: t.field({
      type: ProjectRef,
      nullable: true,
      description: 'Project that had the secret; null once the project is deleted.',
      resolve: ({ projectId }, _, context) => projectLoader(context).load(projectId),
    }),
  }),
})

builder.mutationField('setSecret', (t) =>
  t.fieldWithInput({
    right: rights.setSecret,
    ...commandResult('SetSecretResult', SecretRef, pipelinesCommands.setSecret),
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
      answer(context.pipelines.setSecret(context.viewer, input), ({ name, updatedAt }) => ({
        __typename: 'Secret' as const,
        name,
        updatedAt,
      })),
  }),
)
builder.mutationField('deleteSecret', (t) =>
  t.fieldWithInput({
    right: rights.deleteSecret,
    ...commandResult('DeleteSecretResult', DeletedSecretRef, pipelinesCommands.deleteSecret),
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
    resolve: (_, { input }, context) =>
      answer(context.pipelines.deleteSecret(context.viewer, input), ({ projectId, name }) => ({
        __typename: 'DeletedSecret' as const,
        projectId,
        name,
      })),
  }),
)
