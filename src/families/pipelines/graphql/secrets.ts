import { builder } from '../../../graphql/builder.ts'
import { answer } from '../../../graphql/errors.ts'
import { ProjectRef } from '../../../graphql/refs.ts'
import { resultUnion } from '../../../graphql/result-union.ts'
import { loadProjects } from '../../../store/loaders/projects.ts'
import { SecretRef } from './project.ts'

interface Deleted {
  readonly __typename: 'DeletedSecret'
  readonly project: string
  readonly name: string
}
const DeletedSecretRef = builder.objectRef<Deleted>('DeletedSecret').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    project: t.field({
      type: ProjectRef,
      nullable: true,
      resolve: async ({ project }, _, { pool, viewer }) =>
        (await loadProjects(pool, { names: [project] }, viewer.projects))[0] ?? null,
    }),
  }),
})

const SetSecretInput = builder.inputType('SetSecretInput', {
  fields: (t) => ({
    project: t.string({ required: true, defaultValue: 'default' }),
    name: t.string({ required: true, description: 'As an environment variable: letters, digits and _.' }),
    value: t.string({ required: true, description: '1 to 65536 bytes of text. It cannot be read again.' }),
  }),
})
const DeleteSecretInput = builder.inputType('DeleteSecretInput', {
  fields: (t) => ({
    project: t.string({ required: true, defaultValue: 'default' }),
    name: t.string({ required: true }),
  }),
})

builder.mutationFields((t) => ({
  setSecret: t.field({
    type: resultUnion('SetSecretResult', SecretRef, [
      'InvalidInputError',
      'NotFoundError',
      'LimitError',
      'ForbiddenError',
    ]),
    nullable: true,
    description: 'Replaces the one of the same name. Events that have come already keep the one of before.',
    args: { input: t.arg({ type: SetSecretInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'write',
        () => context.pipelines.setSecret(context.viewer, input),
        ({ name, updatedAt }) => ({ __typename: 'Secret' as const, name, updatedAt }),
      ),
  }),
  deleteSecret: t.field({
    type: resultUnion('DeleteSecretResult', DeletedSecretRef, ['NotFoundError', 'ForbiddenError']),
    nullable: true,
    description: 'Events that have come already keep it.',
    args: { input: t.arg({ type: DeleteSecretInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'write',
        () => context.pipelines.deleteSecret(context.viewer, input),
        ({ project, name }) => ({ __typename: 'DeletedSecret' as const, project, name }),
      ),
  }),
}))
