import type { LogLineRow } from '../../store/loaders/log-lines.ts'
import type { GraphQLContext } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { lineCursor } from '../schema/cursors.ts'
import { notFoundFailure } from '../schema/failures.ts'
import { badInput } from '../schema/limits.ts'
import { LogLineRef } from '../schema/refs.ts'
import { EndOfOutput } from './end-of-output.ts'
import { eventStream, unpack } from './event-stream.ts'
import { TAIL_PAGE } from './live.ts'

interface Asked {
  readonly objectId: string
  readonly after: string
  readonly untilEnd: boolean
}

/** All lines after a place, then live; ends with the object, or with its output. */
async function* follow(
  context: GraphQLContext,
  { objectId, untilEnd, ...start }: Asked,
  signal: AbortSignal,
): AsyncGenerator<LogLineRow> {
  const { live } = context
  const end = untilEnd ? new EndOfOutput(context, objectId) : null
  let { after } = start
  while (!signal.aborted) {
    const lines = await live.tails.load({ objectId, after })
    if (lines === null) return
    for (const line of lines) {
      yield line
      after = line.n
    }
    if (lines.length === TAIL_PAGE) continue
    if (await end?.isReached(lines.length > 0)) return
    await live.interval.next(signal)
  }
}

builder.subscriptionField('logs', (t) =>
  t.field({
    type: LogLineRef,
    description:
      "Lines of an object's output, oldest first, then live; `after` is the cursor of the last line seen. Ends with the object; with `untilEnd` also once the object is finished and nothing more has come for a second. Where lines are not kept any more, a line of the stream SYSTEM says how many.",
    args: {
      objectId: t.arg.id({ required: true }),
      after: t.arg.string(),
      untilEnd: t.arg.boolean({ required: true, defaultValue: false }),
    },
    subscribe: async (_, { objectId, after, untilEnd }, context) => {
      const start = lineCursor.decode(after ?? '0')
      if (start === undefined) throw badInput(`${JSON.stringify(after?.slice(0, 100))} is not a cursor of a line.`)
      const object = await objectLoader(context).load(objectId)
      if (!object) throw notFoundFailure(objectId)
      return eventStream(
        context,
        (signal) => follow(context, { objectId: object.id, after: start, untilEnd }, signal),
        ({ n }) => n,
      )
    },
    resolve: (event) => unpack(event),
  }),
)
