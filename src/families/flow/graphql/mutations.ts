import type { GraphQLContext } from '../../../graphql/context.ts'
import { deletedRecord, readRecord } from '../../../graphql/objects/project-record.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { flowCommands } from '../commands/limits.ts'
import { rights } from '../rights.ts'
import { LIMITS } from '../store/limits.ts'
import { brand, LimitRef } from './limit.ts'

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
const settings = (t: InputBuilder) => ({
  description: t.string({ limit: 'description', description: 'A sentence for people. Left out or null: none.' }),
  max: t.int({
    description:
      'How many may hold it at once, of all keys together, from 1 to 100,000. Left out or null: no bound, and then maxPerKey is given.',
  }),
  maxPerKey: t.int({
    description:
      'How many may hold it at once with the same key, from 1 to 100,000. Left out or null: no bound, and then max is given.',
  }),
})
const ID = { required: true, description: 'Id of the limit.' } as const

const written = async ({ pool }: GraphQLContext, { objectId }: { readonly objectId: string }) =>
  brand(await readRecord(pool, LIMITS, objectId))

builder.mutationField('createLimit', (t) =>
  t.fieldWithInput({
    right: rights.create,
    ...commandResult('CreateLimitResult', LimitRef, flowCommands.createLimit),
    description:
      'Creates a limit, for what asks for it from then on. Refused if the name is taken (ALREADY_EXISTS), and beyond 1,000 limits in a project (LIMIT).',
    typeOptions: { description: 'A new limit.' },
    input: {
      project: t.input.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of its project.',
      }),
      name: t.input.string({
        required: true,
        limit: 'name',
        description: 'A letter or _, then letters, digits, _ or -. Unique among the limits of the project.',
      }),
      ...settings(t.input),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      answer(context.flow.createLimit(context.viewer, dropUndefined(input)), (done) => written(context, done)),
  }),
)
builder.mutationField('updateLimit', (t) =>
  t.fieldWithInput({
    right: rights.update,
    ...commandResult('UpdateLimitResult', LimitRef, flowCommands.updateLimit),
    description: 'Replaces a limit. A higher bound starts what waits; a lower one ends nothing that runs.',
    typeOptions: { description: 'The limit as it is to be.' },
    input: {
      id: t.input.id(ID),
      ...settings(t.input),
      expectedGeneration: t.input.int({
        description: 'Refused (GENERATION_MISMATCH) unless it has this generation. Left out or null: any.',
      }),
    },
    resolve: (_, { input }, context) =>
      answer(context.flow.updateLimit(context.viewer, dropUndefined(input)), (done) => written(context, done)),
  }),
)

const deleted = deletedRecord('DeletedLimit', 'a limit')
builder.mutationField('deleteLimit', (t) =>
  t.fieldWithInput({
    right: rights.delete,
    ...commandResult('DeleteLimitResult', deleted.ref, flowCommands.deleteLimit),
    description:
      'Deletes a limit. Objects that are there ask for it no longer, so those that wait start. New ones that ask for it are refused.',
    typeOptions: { description: 'The limit to delete.' },
    input: { id: t.input.id(ID) },
    resolve: (_, { input }, context) =>
      answer(context.flow.deleteLimit(context.viewer, input), ({ record }) => deleted.of(record)),
  }),
)
