import { Client } from 'pg'

type Given = readonly unknown[]
type Callback = (error: Error | null, result?: unknown) => void
type Query = (...given: Given) => unknown

/** What the driver does with each statement, past its overloads. */
const sendOf = (client: Client): Query => Client.prototype.query.bind(client) as Query

/**
 * The driver, asked for callbacks where promises are wanted. A promise that it makes itself, and its statement, refer to
 * each other such that one that has been moved to the old generation keeps alive those that come after it, until the
 * whole heap is collected: a fifth of all that was allocated survived, and collections took ten times as long.
 */
export class CalledBackClient extends Client {
  // The driver's overloads stay its own: what they promise is what they are given back.
  override query = ((...given: Given) => {
    const send = sendOf(this)
    if (typeof given.at(-1) === 'function' || isSubmittable(given[0])) return send(...given)
    return answered((callback) => send(...given, callback))
  }) as Client['query']
}

async function answered(send: (callback: Callback) => unknown): Promise<unknown> {
  try {
    return await new Promise((resolve, reject) =>
      send((error, result) => {
        if (error) reject(error)
        else resolve(result)
      }),
    )
  } catch (error) {
    // From whoever asked, not from the socket's reader.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  }
}

const isSubmittable = (query: unknown): boolean => typeof query === 'object' && query !== null && 'submit' in query
