import type { LogCursor } from '../../core/ports/log.ts'
import { sequenceAt } from '../../log/tree-time.ts'
import type { GraphQLContext } from '../context.ts'
import { badInput } from '../schema/limits.ts'

/** A place in a tree's past: of the two, one is given. */
export interface Moment {
  readonly sequence: LogCursor | null | undefined
  readonly time: Date | null | undefined
}

/** The cursor of a moment. Throws CursorExpired when the log does not reach back to it. */
export async function cursorOfMoment(
  { pool }: GraphQLContext,
  rootId: string,
  { sequence, time }: Moment,
  names: string,
): Promise<LogCursor> {
  if ((sequence == null) === (time == null)) throw badInput(`Give ${names}, and not both.`)
  if (sequence != null) return sequence
  return { sequence: await sequenceAt(pool, rootId, time as Date), mark: null }
}
