import { ApiError, isStatus, type KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import type { Output } from '../runtime/output.ts'
import { LogLines, type LogPosition, secondOf } from './log-lines.ts'
import { CONTAINER } from './names.ts'

export interface PodLogOptions {
  readonly api: KubernetesApi
  /** The pod's path. */
  readonly path: string
  readonly output: Output
  readonly position: LogPosition
  onPosition(position: LogPosition): void
  /** Aborts when the container has ended. */
  readonly ended: AbortSignal
  readonly signal: AbortSignal
}

/** Output beyond its limits is read slower: at most some 6 MB a second. */
const SLOW_MS = 10
/** Maximum wait for the rest of the output once the container has ended: its node may be lost. */
const REST_MS = 20_000

/** Passes on the output of a pod until all is read that it has written, or the signal aborts. False: some may be missing. */
export async function followLog(options: PodLogOptions): Promise<boolean> {
  const { ended, signal } = options
  let { position } = options
  let giveUpAt = Number.POSITIVE_INFINITY
  let isComplete = false
  for (let failures = 0; !signal.aborted; ) {
    const hadEnded = ended.aborted
    if (hadEnded) giveUpAt = Math.min(giveUpAt, performance.now() + REST_MS)
    try {
      for await (const reached of readLog(options, position)) {
        position = reached
        options.onPosition(position)
        failures = 0
      }
      isComplete = true
      // The end of the stream is that of the container, or of a connection.
      if (hadEnded) return true
    } catch (error) {
      // A node soon forgets the output of a pod that is deleted, which may be while it is followed.
      const isForgotten = isStatus(error, 400, 404)
      if (hadEnded && isForgotten) return isComplete
      isComplete = isForgotten
      if (performance.now() > giveUpAt) return false
    }
    failures += 1
    await pause(retryDelay(failures), hadEnded ? signal : AbortSignal.any([signal, ended]))
  }
  return false
}

async function* readLog({ api, path, output, signal }: PodLogOptions, from: LogPosition): AsyncIterable<LogPosition> {
  let isSlow = false
  const lines = new LogLines(from, (text) => {
    isSlow = !output.write('STDOUT', text)
  })
  const query = { container: CONTAINER, follow: 'true', timestamps: 'true', sinceTime: secondOf(from) }
  for await (const chunk of await api.stream(`${path}/log`, query, signal)) {
    lines.write(Buffer.from(chunk))
    yield lines.position
    if (isSlow) await pause(SLOW_MS, signal)
  }
  if (lines.isForeign) throw new ApiError(404, 'NotFound', 'The node has no output of the pod.')
}
