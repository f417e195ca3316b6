import { ClientError } from '../../client/client-error.ts'
import { pause, retryDelay } from '../../client/pause.ts'

/** Repeats a read while the server may answer later: a stream survives its restart, and so does who reads beside it. */
export async function readAgain<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await read()
    } catch (error) {
      if (signal.aborted || !(error instanceof ClientError && error.retryable)) throw error
      await pause(retryDelay(retries, error), signal)
    }
  }
}
