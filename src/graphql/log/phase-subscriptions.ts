import type { LogBatch } from '../../core/ports/log.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { RIGHTS } from '../../core/rights.ts'
import { encodeCursor } from '../../log/cursor.ts'
import type { GraphQLContext } from '../context.ts'
import { builder } from '../schema/builder.ts'
import { MAX_PAGE } from '../schema/limits.ts'
import { PhaseChangeRef } from '../schema/refs.ts'
import { type StreamEvent, unpack } from './event-stream.ts'
import { LogStream } from './log-stream.ts'
import { PhaseChangeFilter, type PhaseChangeFilterInput, queryOf } from './phase-change.ts'

const PhaseLogBatchRef = builder.objectRef<LogBatch>('PhaseLogBatch').implement({
  description: 'Phase changes that follow each other in the log.',
  fields: (t) => ({
    changes: t.field({
      type: [PhaseChangeRef],
      description: 'Changes that match, in the order of the log; empty if none up to `through` does.',
      resolve: ({ changes }) => [...changes],
    }),
    through: t.field({
      type: 'Sequence',
      description: 'Sequence up to which everything that matches has been sent.',
      resolve: ({ through }) => through.sequence,
    }),
    cursor: t.string({
      description: 'Place in the log at `through`, to resume from (`after`).',
      resolve: ({ through }) => encodeCursor(through),
    }),
  }),
})

const FILTER = 'Selects changes. Left out or null: all but rejected ones.'
const NO_OBJECT = '00000000-0000-0000-0000-000000000000'
/** A filter that nothing can match is followed too, since its cursor moves on. */
export const followable = (
  context: Pick<GraphQLContext, 'viewer'>,
  filter: PhaseChangeFilterInput | null | undefined,
): PhaseChangeQuery =>
  queryOf(context, filter) ?? { projects: context.viewer.projects, objectId: NO_OBJECT, includeRejected: false }

const within = (maxBatch: number): number => Math.min(MAX_PAGE, Math.max(1, maxBatch))

builder.subscriptionFields((t) => ({
  phaseChanges: t.field({
    right: RIGHTS.readLog,
    type: PhaseChangeRef,
    description:
      'Phase changes in the order of the log, each exactly once: first those that the log holds after `after`, then live,\n' +
      'with no gap between. An `after` that is not in the log (pruned, or of another log) ends the stream with the error\n' +
      'CURSOR_EXPIRED.',
    args: {
      filter: t.arg({ type: PhaseChangeFilter, description: FILTER }),
      after: t.arg({ type: 'Sequence', description: 'Cursor, or sequence, to resume from. Left out or null: now.' }),
    },
    subscribe: (_, { filter, after }, context): AsyncIterable<StreamEvent<PhaseChangeRecord>> =>
      new LogStream({
        query: followable(context, filter),
        after: after ?? undefined,
        maxBatch: MAX_PAGE,
        events: 'changes',
      }),
    resolve: (event) => unpack(event),
  }),
  phaseLog: t.field({
    right: RIGHTS.readLog,
    type: PhaseLogBatchRef,
    description:
      'Like phaseChanges, in batches, for programs that keep their place: `through` advances even if nothing matches.\n' +
      'An `after` that is not in the log ends the stream with the extensions\n' +
      '{ code: "CURSOR_EXPIRED", oldest, head, startCursor, endCursor, commonCursor }.',
    args: {
      filter: t.arg({ type: PhaseChangeFilter, description: FILTER }),
      after: t.arg({
        type: 'Sequence',
        required: true,
        description: 'Cursor, or sequence, to resume from; 0: the start of the log.',
      }),
      maxBatch: t.arg.int({
        required: true,
        defaultValue: MAX_PAGE,
        description: `Most changes of a batch. Values outside of 1 to ${MAX_PAGE} are taken as the nearest of them.`,
      }),
    },
    complexity: ({ maxBatch }) => ({ field: 1, multiplier: within(maxBatch) }),
    subscribe: (_, { filter, after, maxBatch }, context): AsyncIterable<StreamEvent<LogBatch>> =>
      new LogStream({
        query: followable(context, filter),
        after,
        maxBatch: within(maxBatch),
        events: 'batches',
      }),
    resolve: (event) => unpack(event),
  }),
}))
