import type { LogBatch } from '../../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { encodeCursor } from '../../log/cursor.ts'
import type { GraphQLContext } from '../context.ts'
import { builder } from '../schema/builder.ts'
import { MAX_PAGE } from '../schema/limits.ts'
import { PhaseChangeRef } from '../schema/refs.ts'
import { type StreamEvent, unpack } from './event-stream.ts'
import { LogStream } from './log-stream.ts'
import { PhaseChangeFilter, type PhaseChangeFilterInput, queryOf } from './phase-change.ts'

const PhaseLogBatchRef = builder.objectRef<LogBatch>('PhaseLogBatch').implement({
  fields: (t) => ({
    changes: t.field({ type: [PhaseChangeRef], resolve: ({ changes }) => [...changes] }),
    through: t.field({
      type: 'Sequence',
      description: 'All that matches, up to here, was told.',
      resolve: ({ through }) => through.sequence,
    }),
    cursor: t.string({
      description: 'The place at `through`: resume with `after: cursor`.',
      resolve: ({ through }) => encodeCursor(through),
    }),
  }),
})

const NO_OBJECT = '00000000-0000-0000-0000-000000000000'
/** A filter that nothing can match still follows: the place moves on. */
const followable = (context: GraphQLContext, filter: PhaseChangeFilterInput | null | undefined): PhaseChangeQuery =>
  queryOf(context, filter) ?? { projects: context.viewer.projects, objectId: NO_OBJECT, includeRejected: false }

const within = (maxBatch: number): number => Math.min(MAX_PAGE, Math.max(1, maxBatch))

builder.subscriptionFields((t) => ({
  phaseChanges: t.field({
    type: PhaseChangeRef,
    description:
      'Phase changes in sequence order, each exactly once per subscription. With `after`, first everything in the log\n' +
      'after that place (a cursor, or a sequence), then live, with no gap between. Without, live from now on.',
    args: { filter: t.arg({ type: PhaseChangeFilter }), after: t.arg({ type: 'Sequence' }) },
    subscribe: (_, { filter, after }, context): AsyncIterable<StreamEvent<PhaseChangeRecord>> =>
      new LogStream(context, {
        query: followable(context, filter),
        after: after ?? undefined,
        maxBatch: MAX_PAGE,
        events: 'changes',
      }),
    resolve: (event) => unpack(event),
  }),
  phaseLog: t.field({
    type: PhaseLogBatchRef,
    description:
      'The same in batches, for programs that keep their place: `through` moves on even when the filter matches nothing.\n' +
      'A cursor that is not in the log (pruned, or of another log) ends the stream with extensions\n' +
      '{ code: "CURSOR_EXPIRED", oldest, head, startCursor, endCursor, commonCursor }; so for phaseChanges.',
    args: {
      filter: t.arg({ type: PhaseChangeFilter }),
      after: t.arg({ type: 'Sequence', required: true }),
      maxBatch: t.arg.int({ required: true, defaultValue: 500 }),
    },
    complexity: ({ maxBatch }) => ({ field: 1, multiplier: within(maxBatch) }),
    subscribe: (_, { filter, after, maxBatch }, context): AsyncIterable<StreamEvent<LogBatch>> =>
      new LogStream(context, {
        query: followable(context, filter),
        after,
        maxBatch: within(maxBatch),
        events: 'batches',
      }),
    resolve: (event) => unpack(event),
  }),
}))
