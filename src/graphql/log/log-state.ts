import { encodeCursor } from '../../log/cursor.ts'
import type { GraphQLContext } from '../context.ts'
import { builder } from '../schema/builder.ts'

const LogStateRef = builder.objectRef<GraphQLContext>('LogState').implement({
  description: 'What the log of phase changes holds.',
  fields: (t) => ({
    epoch: t.int({
      description: 'Counts its histories: 1 until the database was restored or failed over.',
      resolve: ({ log }) => log.stats.epoch,
    }),
    oldest: t.field({
      type: 'Sequence',
      description: 'The first sequence that is not pruned.',
      resolve: async ({ log }) => (await log.end('floor')).sequence + 1,
    }),
    head: t.field({
      type: 'Sequence',
      description: 'The last sequence; smaller than `oldest` when there is none.',
      resolve: async ({ log }) => (await log.end('head')).sequence,
    }),
    startCursor: t.string({
      description: 'Before the oldest change: resume from here to get all that the log holds.',
      resolve: async ({ log }) => encodeCursor(await log.end('floor')),
    }),
    endCursor: t.string({
      description: 'After the newest change: resume from here to get what comes next.',
      resolve: async ({ log }) => encodeCursor(await log.end('head')),
    }),
  }),
})

const resolve = async (_: unknown, __: unknown, context: GraphQLContext): Promise<GraphQLContext> => {
  await context.log.caughtUp()
  return context
}

builder.queryField('log', (t) =>
  t.field({ type: LogStateRef, description: 'The log as it is now: all that was committed before is in it.', resolve }),
)
builder.mutationField('log', (t) =>
  t.field({
    type: LogStateRef,
    description:
      'The log with all that the fields before this one have written: its `endCursor` is for `atLeast` of later reads. Asked before a ' +
      'mutation, it is where to resume to hear of all that the mutation does.',
    resolve,
  }),
)
