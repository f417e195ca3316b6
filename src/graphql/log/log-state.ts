import { RIGHTS } from '../../core/rights.ts'
import { encodeCursor } from '../../log/cursor.ts'
import type { GraphQLContext } from '../context.ts'
import { builder } from '../schema/builder.ts'

const LogStateRef = builder.objectRef<GraphQLContext>('LogState').implement({
  description: 'The log of phase changes: what it holds, and where to resume.',
  fields: (t) => ({
    epoch: t.int({
      description: 'Counts the histories of the log: 1 until the database is restored or fails over.',
      resolve: async ({ log }) => {
        // The look finds out whether the database is still the one that this process knows.
        await log.end('head')
        return log.stats.epoch
      },
    }),
    oldest: t.field({
      type: 'Sequence',
      description: 'First sequence that is not pruned.',
      resolve: async ({ log }) => (await log.end('floor')).sequence + 1,
    }),
    head: t.field({
      type: 'Sequence',
      description: 'Last sequence; smaller than `oldest` if the log is empty.',
      resolve: async ({ log }) => (await log.end('head')).sequence,
    }),
    startCursor: t.string({
      description: 'Place before the oldest change, to read all that the log holds.',
      resolve: async ({ log }) => encodeCursor(await log.end('floor')),
    }),
    endCursor: t.string({
      description: 'Place after the newest change, to follow what comes next.',
      resolve: async ({ log }) => encodeCursor(await log.end('head')),
    }),
  }),
})

const resolve = async (_: unknown, __: unknown, context: GraphQLContext): Promise<GraphQLContext> => {
  await context.log.caughtUp()
  return context
}

builder.queryField('log', (t) =>
  t.field({
    right: RIGHTS.readLog,
    type: LogStateRef,
    description: 'The log as it is now, with everything that was committed before.',
    resolve,
  }),
)
builder.mutationField('log', (t) =>
  t.field({
    right: RIGHTS.readLog,
    type: LogStateRef,
    description:
      'The log with everything that the fields before this one have written. Its `endCursor` is for `atLeast` of later reads; ' +
      'before a mutation it is the place from which a subscription gets all changes of the mutation.',
    resolve,
  }),
)
