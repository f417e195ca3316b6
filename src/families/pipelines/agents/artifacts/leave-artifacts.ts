import { z } from 'zod'
import { asError } from '../../../../client/as-error.ts'
import { type Client, ClientError, type ReportedError, type WorkItem } from '../../../../client/index.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { MAX_ARTIFACT_BYTES } from '../../../../core/artifact.ts'
import type { OutputStream, Runtime } from '../runtime/runtime.ts'
import { quoted } from '../runtime/workload-files.ts'
import { ArtifactProblem, type ArtifactProblemCode } from './artifact-problem.ts'

export const artifactSpec = z.object({
  name: z.string(),
  path: z.string(),
  when: z.enum(['SUCCESS', 'ALWAYS']),
  optional: z.boolean(),
  /** Its name is a key of the cache of its project. */
  cache: z.literal(true).optional(),
})
export type LeftSpec = z.infer<typeof artifactSpec>
const declared = z.object({ artifacts: z.array(artifactSpec) })

/** The artifacts that its spec declares. They are part of its receipt, so that who adopts it knows them. */
export function artifactsOf({ config }: WorkItem): readonly LeftSpec[] {
  const parsed = declared.safeParse(config)
  return parsed.success ? parsed.data.artifacts : []
}

export interface Leaving {
  readonly runtime: Pick<Runtime, 'readLeft'>
  readonly client: Pick<Client, 'writeArtifact'>
  readonly item: WorkItem
  readonly hasSucceeded: boolean
  /** Aborts when nobody waits for them any more. */
  readonly signal: AbortSignal
  onLine(stream: OutputStream, text: string): void
}

/** Uploads what a workload leaves. Returns why it fails, if it does; null: it has left everything that it must. */
export async function leaveArtifacts(leaving: Leaving): Promise<ReportedError | null> {
  const { item, hasSucceeded, signal, onLine } = leaving
  let failure: ReportedError | null = null
  for (const artifact of artifactsOf(item)) {
    if (signal.aborted) return null
    if (artifact.when === 'SUCCESS' && !hasSucceeded) continue
    const problem = await leave(leaving, artifact)
    if (!problem) continue
    const message = `The ${artifact.cache ? 'cache' : 'artifact'} ${artifact.name} is not kept: ${problem.message}`
    onLine('SYSTEM', message)
    if (!artifact.optional) failure ??= { code: problem.code, message }
  }
  return failure
}

/**
 * An upload that breaks off so often, for at least so long, would do so for ever: it may be too slow for a proxy, or for the server, or the
 * working folder is out of reach.
 */
const MAX_BROKEN_OFF = 5
const BROKEN_OFF_MS = 600_000

/** Tries until the server has answered, or nobody waits for it; an upload that breaks off on its way, for some time. */
async function leave(
  { runtime, client, item, signal }: Leaving,
  { name, path, cache }: LeftSpec,
): Promise<ArtifactProblem | null> {
  let [brokenOff, since] = [0, 0]
  for (let failures = 0; !signal.aborted; failures += 1) {
    let broken: unknown = null
    let hasBegun = false
    const over = new AbortController()
    try {
      const left = await runtime.readLeft(item.objectId, path, AbortSignal.any([signal, over.signal]))
      if (!left) return new ArtifactProblem('ARTIFACT_MISSING', `there is no ${quoted(path)} in its working folder.`)
      const body = bounded(left.body, {
        onBegin: () => {
          hasBegun = true
        },
        onError: (error) => {
          broken = error
        },
      })
      const { objectId, fence } = item
      await client.writeArtifact(
        { objectId, fence, name, isFolder: left.isFolder, isCache: cache === true, body },
        { signal },
      )
      return null
    } catch (error) {
      over.abort()
      if (signal.aborted) return null
      const cause = broken ?? error
      if (cause instanceof ArtifactProblem) return cause
      if (cause instanceof ClientError && cause.code === 'STALE_REPORT') return null
      if (cause instanceof ClientError && !cause.retryable && cause.kind !== 'unauthorized')
        return new ArtifactProblem(CODES[cause.code ?? ''] ?? 'ARTIFACT_REFUSED', cause.message)
      const isOfServer = cause instanceof ClientError && !hasBegun
      if (!isOfServer && !isForNow(cause)) {
        if (brokenOff === 0) since = performance.now()
        brokenOff += 1
        if (brokenOff >= MAX_BROKEN_OFF && performance.now() - since >= BROKEN_OFF_MS)
          return new ArtifactProblem(
            'ARTIFACT_REFUSED',
            `its upload has broken off ${brokenOff} times: ${asError(cause).message}`,
          )
      }
      await pause(retryDelay(failures, asError(cause)), signal)
    }
  }
  return null
}

/** The server, or its database, is away, or it has no token yet: that says nothing of the upload. */
const isForNow = (error: unknown): boolean =>
  error instanceof ClientError && (error.kind === 'unauthorized' || error.status === 429 || error.status === 503)

const CODES: Readonly<Record<string, ArtifactProblemCode>> = {
  LIMIT: 'ARTIFACT_QUOTA',
  TOO_LARGE: 'ARTIFACT_TOO_LARGE',
}

/** The server's bound, known before its answer. */
async function* bounded(
  body: AsyncIterable<Uint8Array>,
  { onBegin, onError }: { readonly onBegin: () => void; readonly onError: (error: unknown) => void },
): AsyncGenerator<Uint8Array> {
  let size = 0
  onBegin()
  try {
    for await (const piece of body) {
      size += piece.length
      if (size > MAX_ARTIFACT_BYTES)
        throw new ArtifactProblem('ARTIFACT_TOO_LARGE', `it has more than ${MAX_ARTIFACT_BYTES} bytes.`)
      yield piece
    }
  } catch (error) {
    onError(error)
    throw error
  }
}
