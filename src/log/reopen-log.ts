import type { LogCursor } from '../core/ports/log.ts'
import type { Logger } from '../logger.ts'
import type { Client } from '../store/client.ts'
import { catchUpSequences } from '../store/sequences.ts'
import { cursorAt } from './cursor.ts'
import { type Found, lookUp } from './head.ts'
import { forkLog, type LogIdentity, openLog } from './identity.ts'
import type { LiveBuffer } from './live-buffer.ts'

type Remembered = Pick<LiveBuffer, 'after' | 'through' | 'end' | 'at'>

export interface ReopenedLog {
  readonly identity: LogIdentity
  readonly head: Found
  /** The log still has the last delivered change. */
  readonly isContinued: boolean
}

/**
 * Opens the log of a database that has restarted or was replaced.
 * @param live the last delivered changes
 * @param identity of the log that they were delivered from
 */
export async function reopenLog(
  client: Client,
  live: Remembered,
  { identity: known, logger }: { readonly identity: LogIdentity; readonly logger: Logger },
): Promise<ReopenedLog> {
  await catchUpSequences(client, logger)
  const identity = await openLog(client)
  const { end } = live
  const [here, head] = await lookUp(client, [end.sequence, 'head'])
  const isCurrent = here?.instance === identity.instance && here.epoch === identity.epoch
  if (!here || !head || !isCurrent) throw new Error('The database was replaced while its log was being opened.')
  const isContinued = isSame(end, here)
  const isKnown = end.mark !== null && end.sequence >= here.floor
  // Its id is that of the previous log, but its changes are not.
  if (!isContinued && isKnown && identity.logId === known.logId) {
    const forked = await forkLog(client, identity, await lastInCommon(client, live, here.floor))
    return { identity: forked, head, isContinued }
  }
  return { identity, head, isContinued }
}

/** The last sequence in the buffer at which the log still has the delivered change; 0: at none. */
async function lastInCommon(client: Client, live: Remembered, floor: number): Promise<number> {
  const from = Math.max(live.after, floor)
  let [low, high] = [from, live.through]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const change = live.at(middle)
    const [found] = await lookUp(client, [middle])
    if (change && found && isSame(cursorAt(change), found)) low = middle
    else high = middle - 1
  }
  return low > from ? low : 0
}

/** True if the log has the very change of a cursor. Before the first change all logs are equal. */
const isSame = (cursor: LogCursor, found: LogCursor): boolean =>
  cursor.sequence === 0 || (cursor.mark !== null && cursor.mark === found.mark)
