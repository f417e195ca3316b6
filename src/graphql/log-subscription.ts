import type { LogLineRow } from '../store/loaders/log-lines.ts'
import { builder } from './builder.ts'
import type { GraphQLContext } from './context.ts'
import { lineCursor } from './cursors.ts'
import { eventStream, unpack } from './event-stream.ts'
import { notFoundFailure } from './failures.ts'
import { badInput } from './limits.ts'
import { TAIL_PAGE } from './live.ts'
import { objectLoader } from './loaders.ts'
import { LogLineRef } from './refs.ts'

/** All lines after a place, then live; ends with the object. */
async function* follow(
  { live }: GraphQLContext,
  objectId: string,
  start: string,
  signal: AbortSignal,
): AsyncGenerator<LogLineRow> {
  let after = start
  while (!signal.aborted) {
    const lines = await live.tails.load({ objectId, after })
    if (lines === null) return
    for (const line of lines) {
      yield line
      after = line.n
    }
    if (lines.length < TAIL_PAGE) await live.pulse.next(signal)
  }
}

builder.subscriptionField('logs', (t) =>
  t.field({
    type: LogLineRef,
    description:
      "Lines of an object's output, oldest first, then live; `after` is the cursor of the last line seen. Ends with the object.",
    args: { objectId: t.arg.id({ required: true }), after: t.arg.string() },
    subscribe: async (_, { objectId, after }, context) => {
      const start = lineCursor.decode(after ?? '0')
      if (start === undefined) throw badInput(`${JSON.stringify(after?.slice(0, 100))} is not a cursor of a line.`)
      const object = await objectLoader(context).load(objectId)
      if (!object) throw notFoundFailure(objectId)
      return eventStream(
        context,
        (signal) => follow(context, object.id, start, signal),
        ({ n }) => n,
      )
    },
    resolve: (event) => unpack(event),
  }),
)
