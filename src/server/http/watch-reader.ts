import type { ServerResponse } from 'node:http'
import type { Bounds } from '../limits/bounds.ts'

/** Ends a response whose client reads nothing for too long, or whose bytes are too many together with those of others. */
export function watchReader(response: ServerResponse, { limits, refusals, unread }: Bounds): void {
  const reader = {
    get waiting() {
      return response.writableLength
    },
    giveUp() {
      refusals.count('TOO_SLOW')
      response.destroy()
    },
  }
  // For Node, what the kernel takes is activity.
  response.setTimeout(limits.stalledAfterMs, () => reader.giveUp())
  response.once('close', () => unread.remove(reader))
  unread.update(reader)
}
