import type { LogCursor } from '../../core/ports/log.ts'
import { type GraphQLContext, perOperation } from '../context.ts'
import { reportExpired } from '../schema/failures.ts'

export const AT_LEAST =
  'Cursor, or sequence, of an earlier answer, which the log must hold. CURSOR_EXPIRED otherwise, as after a restore or a failover. Left out or null: nothing is required.'

/** Runs once for each operation. */
const settled = perOperation(({ log }) => log.caughtUp())
/** Waits until everything that was committed before is in the log, so that readers see their own writes. */
export async function caughtUp(context: GraphQLContext, atLeast: LogCursor | null | undefined): Promise<void> {
  await settled(context)
  if (atLeast) await reportExpired(context.log, () => context.log.requireReached(atLeast))
}
