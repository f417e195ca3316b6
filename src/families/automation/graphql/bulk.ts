import type { ObjectRow } from '../../../core/tree.ts'
import type { GraphQLContext } from '../../../graphql/context.ts'
import { objectLoader, sideField, specLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { connect } from '../../../graphql/schema/connection.ts'
import { uuidCursor } from '../../../graphql/schema/cursors.ts'
import { ObjectKindEnum } from '../../../graphql/schema/enums.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { BULK_OUTCOMES, type BulkCounts, type BulkOutcome, type BulkSpec, NO_COUNTS } from '../rules/bulk.ts'
import type { TargetRow } from '../store/bulk.ts'
import { bulkCounts, bulkLoader, targetsLoader } from './loaders.ts'
import { words } from './words.ts'

const BulkOutcomeEnum = builder.enumType('BulkOutcome', {
  description: 'The outcome of a target of a bulk operation. All but WAITING are final.',
  values: words(
    {
      WAITING: 'It is still to be asked.',
      DONE: 'It has accepted the request, which runs in its own tree.',
      UNCHANGED: 'It had ended by itself before it was asked to end.',
      REFUSED: 'It has refused the request; `code` and `message` say why. It is not asked again.',
      FORBIDDEN: 'The author of the operation lacked the right when it was its turn; `message` says which.',
      GONE: 'It did not exist any more, or never in the project.',
      CANCELLED: 'The operation was cancelled before it was asked.',
    },
    BULK_OUTCOMES,
  ),
})

const TargetRef = builder.objectRef<TargetRow>('BulkTarget').implement({
  description: 'An object of a bulk operation, with its outcome.',
  fields: (t) => ({
    targetId: t.exposeID('targetId', { description: 'Id of the object.' }),
    targetKind: t.expose('kind', {
      type: ObjectKindEnum,
      nullable: true,
      description: 'Its kind when the operation was created; null if it was not there.',
    }),
    targetName: t.exposeString('name', {
      nullable: true,
      description: 'Its name when the operation was created; null if it was not there.',
    }),
    outcome: t.expose('outcome', { type: BulkOutcomeEnum, description: 'Its outcome.' }),
    code: t.exposeString('code', {
      nullable: true,
      description:
        'The code of the error with which it was refused, such as TRANSITION or BUSY; INTERNAL if it failed again and again. Null if it was not refused.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'Why, for people; null if it was not refused.' }),
    at: t.expose('at', { type: 'DateTime', nullable: true, description: 'When it was decided; null until then.' }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object as it is now; null once it is gone, or if the viewer may not read it.',
      resolve: ({ targetId }, _, context) => objectLoader(context).load(targetId),
    }),
    caused: t.field({
      type: TreeObjectRef,
      nullable: true,
      description:
        'The root that the request has created, such as the event of a retry; null if it has changed the object itself.',
      resolve: ({ causedId }, _, context) => (causedId === null ? null : objectLoader(context).load(causedId)),
    }),
  }),
})
const TargetConnection = builder.connectionObject({ name: 'BulkTargetConnection', type: TargetRef }, {})

const countsOf = async (context: GraphQLContext, id: string): Promise<BulkCounts> =>
  (await bulkCounts(context).load(id)) ?? NO_COUNTS
const sumOf = (counts: BulkCounts, outcomes: readonly BulkOutcome[]): number =>
  outcomes.reduce((sum, outcome) => sum + counts[outcome], 0)
const CountsRef = builder.objectRef<BulkCounts>('BulkCounts').implement({
  description: 'Numbers of targets by outcome, counted from the targets.',
  fields: (t) => ({
    all: t.int({
      description: 'Number of all targets.',
      resolve: (counts) => sumOf(counts, BULK_OUTCOMES),
    }),
    ...Object.fromEntries(
      BULK_OUTCOMES.map((outcome) => [
        outcome.toLowerCase() as Lowercase<BulkOutcome>,
        t.int({ description: `Number of targets that are ${outcome}.`, resolve: (counts) => counts[outcome] }),
      ]),
    ),
  }),
})
const specOf = async (context: GraphQLContext, id: string) =>
  ((await specLoader(context).load(id))?.spec as BulkSpec | undefined) ?? null

export const BulkOperationRef = builder.objectRef<ObjectRow>('BulkOperation').implement({
  description:
    'One verb for many objects of a project, which are fixed when it is created. Each is asked once, and has an outcome.',
  interfaces: [NodeRef, TreeObjectRef],
  fields: (t) => ({
    verb: t.string({
      nullable: true,
      description: 'The verb that is asked, such as `cancel`; null once it is deleted.',
      resolve: async ({ id }, _, context) => (await specOf(context, id))?.verb ?? null,
    }),
    flags: t.stringList({
      nullable: true,
      description: 'Names of the flags of the verb that are set; null once it is deleted.',
      resolve: async ({ id }, _, context) => {
        const spec = await specOf(context, id)
        return spec && [...(spec.flags ?? [])]
      },
    }),
    note: t.string({
      nullable: true,
      description: 'A text of its author for people, also the reason of cancellations; null: none.',
      resolve: async ({ id }, _, context) => (await specOf(context, id))?.note ?? null,
    }),
    ratePerSecond: t.int({
      nullable: true,
      description: 'Objects that are asked within a second at most; null: as many as can be.',
      resolve: async ({ id }, _, context) => (await specOf(context, id))?.ratePerSecond ?? null,
    }),
    selection: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The ObjectFilter that has selected its objects, as it was sent; null: they were named by id.',
      resolve: async ({ id }, _, context) => (await specOf(context, id))?.filter ?? null,
    }),
    author: t.string({
      nullable: true,
      description:
        'Name of who has created it: it has the rights of that principal, as they are when each object is asked. Null once it is deleted.',
      resolve: async ({ id }, _, context) => (await bulkLoader(context).load(id))?.editor?.name ?? null,
    }),
    endedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last of its targets was decided; null until then.',
      resolve: sideField(bulkLoader, 'endedAt', null),
    }),
    counts: t.field({
      type: CountsRef,
      description: 'Numbers of its targets by outcome.',
      resolve: ({ id }, _, context) => countsOf(context, id),
    }),
    outcomes: t.field({
      type: TargetConnection,
      description: 'Its targets with their outcomes, in the order in which they are asked.',
      args: {
        only: t.arg({
          type: [BulkOutcomeEnum],
          limit: 'choices',
          description: 'Outcomes, of which a target must have one. Left out or null: all.',
        }),
        ...t.arg.connectionArgs(),
      },
      complexity: (args) => pageCost(args),
      resolve: ({ id }, { only, ...args }, context) =>
        connect(args, {
          cursor: uuidCursor,
          position: (target: TargetRow) => target.targetId,
          load: (window) => targetsLoader(context)(only ?? null).load({ id, window }),
          count: async () => sumOf(await countsOf(context, id), only ?? BULK_OUTCOMES),
        }),
    }),
  }),
})
