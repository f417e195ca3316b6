import { ClientError } from '../../client/client-error.ts'
import { pause, retryDelay } from '../../client/pause.ts'

/** An object that goes while it is read makes the whole read NOT_FOUND. The next one leaves it out, unless another object goes then. */
const MOST_GONE = 100

/** Repeats a read while the server may answer later: a stream survives its restart, and so does who reads beside it. */
export async function readAgain<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await read()
    } catch (error) {
      if (signal.aborted || !(error instanceof ClientError)) throw error
      if (!error.retryable && (error.code !== 'NOT_FOUND' || retries === MOST_GONE)) throw error
      await pause(retryDelay(retries, error), signal)
    }
  }
}
