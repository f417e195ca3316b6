import type { GraphQLContext } from '../../../graphql/context.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { connect } from '../../../graphql/schema/connection.ts'
import { uuidCursor } from '../../../graphql/schema/cursors.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import type { BackfillRow } from '../store/backfills.ts'
import type { FiringRow } from '../store/firings.ts'
import { FiringConnection } from './firing.ts'
import { backfillLoaders, firingsOfBackfill } from './loaders.ts'
import { OverlapEnum } from './spec.ts'

const BackfillState = builder.enumType('BackfillState', {
  description: 'The state of a backfill.',
  values: {
    RUNNING: { description: 'Times of it are still to come, or run.' },
    CANCELLED: { description: 'It was cancelled. Firings that had started something may still run.' },
    ENDED: { description: 'All its times are decided, and nothing that it has started runs.' },
  },
})
const progress =
  (count: Exclude<keyof NonNullable<Awaited<ReturnType<typeof progressOf>>>, 'id'>) =>
  async ({ id }: BackfillRow, _: unknown, context: GraphQLContext) =>
    (await progressOf(context, id))?.[count] ?? 0
const progressOf = (context: GraphQLContext, id: string) => backfillLoaders(context).progress.load(id)

const BackfillRef = builder.objectRef<BackfillRow>('ScheduleBackfill').implement({
  description:
    'Times of a schedule that have passed and are fired again, or for the first time. Its numbers are those of its firings.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent: the cause of its firings.' }),
    from: t.expose('first', { type: 'DateTime', description: 'No time is before it.' }),
    until: t.expose('last', { type: 'DateTime', description: 'No time is after it.' }),
    overlap: t.expose('overlap', {
      type: OverlapEnum,
      description: 'QUEUE: one after the other. ALLOW: side by side.',
    }),
    refire: t.exposeBoolean('refire', { description: 'True if times that have fired fire again.' }),
    by: t.exposeString('by', { description: 'Name of who has created it.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was created.' }),
    cancelledBy: t.exposeString('cancelledBy', {
      nullable: true,
      description: 'Name of who has cancelled it; null if nobody has.',
    }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When all of it had ended, or it was cancelled; null until then.',
    }),
    state: t.field({
      type: BackfillState,
      description: 'Its state.',
      resolve: ({ cancelledBy, endedAt }) => (cancelledBy !== null ? 'CANCELLED' : endedAt ? 'ENDED' : 'RUNNING'),
    }),
    times: t.int({ description: 'Number of its times.', resolve: progress('times') }),
    waiting: t.int({ description: 'Number of times that are still to come.', resolve: progress('waiting') }),
    fired: t.int({ description: 'Number of times that have started something.', resolve: progress('fired') }),
    running: t.int({ description: 'Number of those of which something runs still.', resolve: progress('running') }),
    skipped: t.int({
      description: 'Number of times that were skipped: they had fired, or it was cancelled before.',
      resolve: progress('skipped'),
    }),
    refused: t.int({ description: 'Number of times that were REFUSED or FORBIDDEN.', resolve: progress('refused') }),
    firings: t.field({
      type: FiringConnection,
      description: 'Its firings, the last time first.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: uuidCursor,
          position: (firing: FiringRow) => firing.id,
          load: (window) => firingsOfBackfill(context).pages.load({ id, window }),
          count: () => firingsOfBackfill(context).counts.load(id),
        }),
    }),
  }),
})
export const BackfillConnection = builder.connectionObject(
  { name: 'ScheduleBackfillConnection', type: BackfillRef },
  {},
)
