import { RIGHTS } from '../../core/rights.ts'
import type { LogLineRow } from '../../store/loaders/log-lines.ts'
import { noteLogsRead } from '../audit/note-read.ts'
import { objectLoader } from '../loaders.ts'
import type { ResolverContext } from '../resolver-context.ts'
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

/** Yields the lines after a place, then live ones, and ends with the object or with its output. */
async function* follow(
  context: ResolverContext,
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
    right: RIGHTS.readObjects,
    type: LogLineRef,
    description:
      'Lines of the output of an object: first those that are kept, oldest first, then live. Ends when the object is deleted. A line of the stream SYSTEM counts removed lines.',
    args: {
      objectId: t.arg.id({
        required: true,

        description: 'Id of the object; otherwise the error NOT_FOUND.',
      }),
      after: t.arg.string({
        limit: 'cursor',
        description: 'Cursor of the last line that is known. Left out or null: before the first line.',
      }),
      untilEnd: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'True to end also once the object is finished and no line has come for a second.',
      }),
    },
    subscribe: async (_, { objectId, after, untilEnd }, context) => {
      const start = lineCursor.decode(after ?? '0')
      if (start === undefined) throw badInput(`${JSON.stringify(after?.slice(0, 100))} is not a cursor of a line.`)
      const object = await objectLoader(context).load(objectId)
      if (!object) throw notFoundFailure(objectId)
      noteLogsRead(context, object)
      return eventStream(
        context,
        (signal) => follow(context, { objectId: object.id, after: start, untilEnd }, signal),
        { keyOf: ({ n }) => n, place: object.id },
      )
    },
    resolve: (event) => unpack(event),
  }),
)
