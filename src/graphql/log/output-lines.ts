import { RIGHTS } from '../../core/rights.ts'
import { type OutputLine, type OutputQuery, searchOutput } from '../../log/output/search-output.ts'
import type { GraphQLContext } from '../context.ts'
import { builder } from '../schema/builder.ts'
import { connect, cutAt } from '../schema/connection.ts'
import { outputCursor } from '../schema/cursors.ts'
import { failure } from '../schema/failures.ts'
import { badInput, pageCost } from '../schema/limits.ts'
import { OutputLineConnection, OutputLineRef } from '../schema/refs.ts'
import { eventStream, unpack } from './event-stream.ts'
import { OutputFilterRef, outputQueryOf } from './output-filter.ts'

/** Lines that one read brings for one subscription. */
const FOLLOWED_PAGE = 500

builder.queryField('output', (t) =>
  t.field({
    right: RIGHTS.readObjects,
    type: OutputLineConnection,
    nullable: true,
    description:
      'Lines of output of an object, a tree, a project or all that the viewer may read, in the order in which they were written. One request searches a bounded part of them: a page of a filter that matches little may have fewer entries than requested, or none, while `pageInfo` says that there are more pages and has the cursor to resume from. Null only together with an entry in `errors`.',
    args: {
      filter: t.arg({ type: OutputFilterRef, description: 'Selects lines. Left out or null: all.' }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: async (_, { filter, ...args }, context) => {
      const query = await outputQueryOf(context, filter)
      const { pool, live } = context
      const end = await live.outputEnds.find()
      let reached: number | null = null
      const connection = await connect<OutputLine, number>(args, {
        cursor: outputCursor,
        isSearched: true,
        position: ({ seq }) => seq,
        load: async ({ after, before, backward, limit }) => {
          requireReached(after ?? 0, end.last)
          if (query === null) return []
          const direction = backward ? 'backward' : 'forward'
          const page = await searchOutput(pool, query, { after: after ?? 0, before, limit, direction }, end)
          reached = page.reached
          return page.lines
        },
        count: () => Promise.reject(badInput('Lines of output have no totalCount: read their pages.')),
      })
      return reached === null
        ? connection
        : cutAt(outputCursor.encode(reached), connection, typeof args.last === 'number')
    },
  }),
)

builder.subscriptionField('output', (t) =>
  t.field({
    right: RIGHTS.readObjects,
    type: OutputLineRef,
    description:
      'Lines of output that match, in the order in which they were written, each exactly once: those after `after`, then live. Output of objects that are created later is among them. A cursor that the database does not know, since it was restored, ends it with the error CURSOR_EXPIRED.',
    args: {
      filter: t.arg({ type: OutputFilterRef, description: 'Selects lines. Left out or null: all.' }),
      after: t.arg.string({
        limit: 'cursor',
        description: 'Cursor of the last line that is known. Left out or null: live from now on.',
      }),
    },
    subscribe: async (_, { filter, after }, context) => {
      const start = after == null ? null : outputCursor.decode(after)
      if (start === undefined) throw badInput(`${JSON.stringify(after?.slice(0, 100))} is not a cursor of this list.`)
      const query = await outputQueryOf(context, filter)
      const from = start ?? (await context.live.outputEnds.find()).settled
      return eventStream(context, (signal) => follow(context, query, from, signal), {
        keyOf: ({ seq }) => String(seq),
        place: placeOf(query),
      })
    },
    resolve: (event) => unpack(event),
  }),
)

/** The one project of its objects counts, too. */
const placeOf = (query: OutputQuery | null): string =>
  query?.objectId ?? query?.rootId ?? (query?.projects?.length === 1 ? (query.projects[0] ?? '') : '')

async function* follow(
  { pool, live }: GraphQLContext,
  query: OutputQuery | null,
  start: number,
  signal: AbortSignal,
): AsyncGenerator<OutputLine> {
  let after = start
  while (!signal.aborted) {
    const end = await live.outputEnds.find()
    requireReached(after, end.last)
    if (query === null || end.settled <= after) {
      await live.interval.next(signal)
      continue
    }
    const range = { after, before: null, limit: FOLLOWED_PAGE, direction: 'forward' } as const
    const { lines, reached } = await searchOutput(pool, query, range, end)
    yield* lines
    after = reached ?? (lines.length === FOLLOWED_PAGE ? (lines.at(-1)?.seq ?? after) : end.settled)
    if (after >= end.settled) await live.interval.next(signal)
  }
}

/** A database that was restored has not given the numbers of all cursors. */
function requireReached(after: number, last: number): void {
  if (after <= last) return
  throw failure(
    'CURSOR_EXPIRED',
    `This cursor is not in the output, which ends at ${last}: read it again from there.`,
    {
      endCursor: outputCursor.encode(last),
    },
  )
}
