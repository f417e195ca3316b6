import type { Outcome } from '../../../core/ports/outcome.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { DataObjectRef, type DataObjectValue, ProjectRef } from '../../../graphql/schema/refs.ts'
import { resultUnion } from '../../../graphql/schema/result-union.ts'
import { loadDataObject, loadProjects } from '../../../store/loaders/projects.ts'

interface Deleted {
  readonly __typename: 'DeletedDataObject'
  readonly project: string
  readonly name: string
}
const DeletedDataObjectRef = builder.objectRef<Deleted>('DeletedDataObject').implement({
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

const SetDataObjectInput = builder.inputType('SetDataObjectInput', {
  fields: (t) => ({
    project: t.string({ required: true, defaultValue: 'default' }),
    name: t.string({ required: true }),
    value: t.field({ type: 'JSON', description: 'Any JSON value; left out: null, which is a value too.' }),
  }),
})
const DeleteDataObjectInput = builder.inputType('DeleteDataObjectInput', {
  fields: (t) => ({
    project: t.string({ required: true, defaultValue: 'default' }),
    name: t.string({ required: true }),
  }),
})

builder.mutationFields((t) => ({
  setDataObject: t.field({
    type: resultUnion('SetDataObjectResult', DataObjectRef, [
      'InvalidInputError',
      'NotFoundError',
      'ConflictError',
      'ForbiddenError',
    ]),
    nullable: true,
    args: { input: t.arg({ type: SetDataObjectInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'write',
        async (): Promise<Outcome<{ row: DataObjectValue }>> => {
          const { deployments, pool, viewer, system } = context
          const { value = null } = input
          const outcome = await deployments.setDataObject(viewer, { ...input, value })
          if (!outcome.ok) return outcome
          // Deleted again by somebody else: this is what was set.
          const row = (await loadDataObject(pool, outcome, viewer.projects)) ?? {
            projectId: '',
            name: input.name,
            value,
            exporterId: null,
            updatedAt: system.now(),
          }
          return { ok: true, row: { ...row, __typename: 'DataObject' } }
        },
        ({ row }) => row,
      ),
  }),
  deleteDataObject: t.field({
    type: resultUnion('DeleteDataObjectResult', DeletedDataObjectRef, [
      'InvalidInputError',
      'NotFoundError',
      'ConflictError',
      'ForbiddenError',
    ]),
    nullable: true,
    args: { input: t.arg({ type: DeleteDataObjectInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'write',
        () => context.deployments.deleteDataObject(context.viewer, input),
        ({ project, name }) => ({ __typename: 'DeletedDataObject' as const, project, name }),
      ),
  }),
}))
