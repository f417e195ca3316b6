import type { LogCursor } from '../../core/ports/log.ts'
import { type GraphQLContext, perOperation } from '../context.ts'
import { tellExpired } from '../schema/failures.ts'

export const AT_LEAST =
  'A place that the log must have: a cursor of an earlier answer. CURSOR_EXPIRED if it has not, since the database was restored or failed over.'

/** Once for each operation. */
const settled = perOperation(({ log }) => log.caughtUp())
/** What was committed before the call is in the log that is read next: readers see their own writes. */
export async function caughtUp(context: GraphQLContext, atLeast: LogCursor | null | undefined): Promise<void> {
  await settled(context)
  if (atLeast) await tellExpired(context.log, () => context.log.reaches(atLeast))
}
