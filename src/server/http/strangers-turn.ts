import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Bounds } from '../limits/bounds.ts'

/**
 * A turn of the address, counted as a request of its strangers, for what anybody is answered. It comes late to whoever takes
 * many. False: the client has gone meanwhile.
 */
export async function strangersTurn(
  request: IncomingMessage,
  response: ServerResponse,
  { callers, turns, lateRefusals }: Pick<Bounds, 'callers' | 'turns' | 'lateRefusals'>,
): Promise<boolean> {
  const strangers = callers.strangersAt(callers.addressOf(request))
  await turns.next(strangers)
  if (strangers.request()) await lateRefusals.wait(response)
  return !response.destroyed
}
