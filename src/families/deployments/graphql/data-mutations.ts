import type { Outcome } from '../../../core/ports/outcome.ts'
import type { GraphQLContext } from '../../../graphql/context.ts'
import { deletedRecord } from '../../../graphql/objects/project-record.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { DataObjectRef, type DataObjectValue } from '../../../graphql/schema/refs.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { type DeploymentsCommands, deploymentsCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'

const deleted = deletedRecord('DeletedDataObject', 'data')

const PROJECT = 'Name of the project.'

builder.mutationField('setDataObject', (t) =>
  t.fieldWithInput({
    right: rights.setData,
    ...commandResult('SetDataObjectResult', DataObjectRef, deploymentsCommands.setDataObject),
    description:
      'Creates data in the scope of a project, or replaces its value; root installations that import it get a job (IF_CHANGED), or continue. Data that an installation exports is refused (IN_USE).',
    typeOptions: { description: 'The data to set.' },
    input: {
      project: t.input.string({ required: true, defaultValue: 'default', limit: 'reference', description: PROJECT }),
      name: t.input.string({
        required: true,
        limit: 'name',
        description: 'A letter or _, then letters, digits, _ or -.',
      }),
      value: t.input.field({
        type: 'JSON',
        limit: 'json',
        description: 'Any JSON value. Left out: null, which is a value too.',
      }),
    },
    resolve: (_, { input }, context) => answer(setDataObject(context, input), ({ row }) => row),
  }),
)

type DataObject = Parameters<DeploymentsCommands['setDataObject']>[1]
type SetRefusal = Extract<Awaited<ReturnType<DeploymentsCommands['setDataObject']>>, { readonly ok: false }>['refusal']
async function setDataObject(
  { deployments, viewer }: GraphQLContext,
  input: Omit<DataObject, 'value'> & Partial<DataObject>,
): Promise<Outcome<{ row: DataObjectValue }, SetRefusal>> {
  const { value = null } = input
  const outcome = await deployments.setDataObject(viewer, { ...input, value })
  if (!outcome.ok) return outcome
  const { projectId, name, updatedAt } = outcome
  const row = { projectId, name, value, exporterId: null, updatedAt }
  return { ok: true, row: { ...row, __typename: 'DataObject' } }
}

builder.mutationField('deleteDataObject', (t) =>
  t.fieldWithInput({
    right: rights.deleteData,
    ...commandResult('DeleteDataObjectResult', deleted.ref, deploymentsCommands.deleteDataObject),
    description:
      'Deletes data from the scope of a project; root installations that import it get a job (IF_CHANGED), which waits if it needs the data. Data that an installation exports is refused (IN_USE).',
    typeOptions: { description: 'The data to delete.' },
    input: {
      project: t.input.string({ required: true, defaultValue: 'default', limit: 'reference', description: PROJECT }),
      name: t.input.string({ required: true, limit: 'reference', description: 'Name of the data.' }),
    },
    resolve: (_, { input }, context) => answer(context.deployments.deleteDataObject(context.viewer, input), deleted.of),
  }),
)
