import { objectLoader } from '../../../graphql/loaders.ts'
import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { ObjectFilter, queryOf } from '../../../graphql/objects/objects.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import type { ResolverContext } from '../../../graphql/resolver-context.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { ObjectKindEnum, PhaseEnum } from '../../../graphql/schema/enums.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import type { BulkFilter, BulkPreview } from '../commands/bulk.ts'
import { automationCommands } from '../commands/schedules.ts'
import { rights } from '../rights.ts'
import { MAX_RATE, MAX_TARGETS } from '../rules/bulk.ts'
import { BulkOperationRef } from './bulk.ts'

const MOST = MAX_TARGETS.toLocaleString('en')
const FILTER = `Selects the objects, of the project alone. Without \`kinds\` those of all kinds with the verb that the caller may ask; without \`phases\` and \`finished\` those that are as the verb needs them, such as unfinished ones for \`cancel\`. None selects what has its retry for another one. At most ${MOST} may match. Left out or null: \`ids\` has the objects.`
const VERB =
  'The name of a verb of the objects, such as cancel, delete, retry or reconcile (`stateMachines` has them). `flags` sets its flags.'
const FLAGS =
  'Names of flags of the verb that are set, such as cascade; a kind without such a flag is asked without it. Left out or null: none.'
const IDS = 'The objects. One that is not in the project is GONE. Left out or null: `filter` selects them.'

type Filter = typeof ObjectFilter.$inferInput
function readFilter(filter: Filter | null | undefined, { viewer, kinds }: ResolverContext): BulkFilter | null {
  if (!filter) return null
  const sent = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null && value !== undefined))
  return { sent, query: queryOf(filter, viewer, kinds), rule: kinds.finishedRule }
}

builder.mutationField('createBulkOperation', (t) =>
  t.fieldWithInput({
    right: rights.createBulk,
    ...commandResult('CreateBulkOperationResult', BulkOperationRef, automationCommands.createBulkOperation),
    description: `Asks one verb of many objects of a project. They are fixed now, and each of them is asked once, in the name and with the rights of the caller, whatever is killed meanwhile. More than ${MOST} are refused (LIMIT).`,
    typeOptions: { description: 'The verb, and the objects.' },
    input: {
      project: t.input.string({ required: true, limit: 'reference', description: 'Name of the project.' }),
      name: t.input.string({
        required: true,
        limit: 'name',
        description: 'Unique among the bulk operations of the project.',
      }),
      verb: t.input.string({ required: true, limit: 'verb', description: VERB }),
      flags: t.input.stringList({ limit: 'flags', description: FLAGS }),
      filter: t.input.field({ type: ObjectFilter, description: FILTER }),
      ids: t.input.idList({ limit: 'bulkIds', description: IDS }),
      note: t.input.string({
        limit: 'reason',
        description: 'For people; also the reason of cancellations. Left out or null: none.',
      }),
      ratePerSecond: t.input.int({
        description: `Objects that are asked within a second at most, from 1 to ${MAX_RATE}. Left out or null: as many as can be.`,
      }),
      labels: t.input.field({
        type: [LabelInput],
        limit: 'labels',
        description: 'Each key stands once. Left out or null: none.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input: { filter, ...input } }, context) =>
      writeObject(context, null, () =>
        context.automation.createBulkOperation(context.viewer, dropUndefined(input), readFilter(filter, context)),
      ),
  }),
)

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
const ID = (t: InputBuilder) => ({ id: t.id({ required: true, description: 'Id of the bulk operation.' }) })
builder.mutationField('cancelBulkOperation', (t) =>
  t.fieldWithInput({
    right: rights.cancelBulk,
    ...commandResult('CancelBulkOperationResult', BulkOperationRef, automationCommands.cancelBulkOperation),
    description:
      'Ends a bulk operation: what it has not asked yet is CANCELLED, and what it has asked stays. One that has ended is refused with a TransitionError.',
    typeOptions: { description: 'The bulk operation to cancel.' },
    input: ID(t.input),
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.automation.cancelBulkOperation(context.viewer, input)),
  }),
)
builder.mutationField('deleteBulkOperation', (t) =>
  t.fieldWithInput({
    right: rights.deleteBulk,
    ...commandResult('DeleteBulkOperationResult', BulkOperationRef, automationCommands.deleteBulkOperation),
    description:
      'Deletes a bulk operation that has ended, with its outcomes, and returns it as it was. One that still asks is refused with a TransitionError.',
    typeOptions: { description: 'The bulk operation to delete.' },
    input: ID(t.input),
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.automation.deleteBulkOperation(context.viewer, input)),
  }),
)

type Group = BulkPreview['counts'][number]
const GroupRef = builder.objectRef<Group>('BulkPreviewGroup').implement({
  description: 'Objects of one kind in one phase that a bulk operation would ask.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Their kind.' }),
    phase: t.expose('phase', { type: PhaseEnum, description: 'Their phase.' }),
    count: t.exposeInt('count', { description: 'Number of them.' }),
    refusal: t.exposeString('refusal', {
      nullable: true,
      description: 'Why the verb would be refused in this phase; null: nothing speaks against it before each is asked.',
    }),
  }),
})
type Preview = BulkPreview & { readonly __typename: 'BulkPreview' }
const PreviewRef = builder.objectRef<Preview>('BulkPreview').implement({
  description: 'The objects that a bulk operation would ask if it were created now.',
  fields: (t) => ({
    count: t.int({
      description: `Number of the objects. At ${(MAX_TARGETS + 1).toLocaleString('en')} it ends: so many are refused.`,
      resolve: ({ counts }) => counts.reduce((sum, { count }) => sum + count, 0),
    }),
    groups: t.field({
      type: [GroupRef],
      description: 'The same by kind and phase, with the refusals that can be foreseen.',
      complexity: { field: 1, multiplier: 50 },
      resolve: ({ counts }) => [...counts],
    }),
    sample: t.field({
      type: [TreeObjectRef],
      description: 'The first of them, at most ten.',
      complexity: { field: 1, multiplier: 10 },
      resolve: async ({ sampleIds }, _, context) =>
        (await Promise.all(sampleIds.map((id) => objectLoader(context).load(id)))).filter((row) => row !== null),
    }),
  }),
})
builder.queryField('previewBulkOperation', (t) =>
  t.fieldWithInput({
    right: rights.createBulk,
    ...commandResult('PreviewBulkOperationResult', PreviewRef, automationCommands.previewBulkOperation),
    description:
      'The objects that a bulk operation would ask, without asking any. Refused as the operation would be. Null only together with an entry in `errors`.',
    typeOptions: { description: 'The verb, and the objects, as a bulk operation takes them.' },
    input: {
      project: t.input.string({ required: true, limit: 'reference', description: 'Name of the project.' }),
      verb: t.input.string({ required: true, limit: 'verb', description: VERB }),
      flags: t.input.stringList({ limit: 'flags', description: FLAGS }),
      filter: t.input.field({ type: ObjectFilter, description: FILTER }),
      ids: t.input.idList({ limit: 'bulkIds', description: IDS }),
    },
    resolve: (_, { input: { filter, ...input } }, context) =>
      answer(
        context.automation.previewBulkOperation(context.viewer, dropUndefined(input), readFilter(filter, context)),
        ({ preview }) => ({ ...preview, __typename: 'BulkPreview' as const }),
      ),
  }),
)
