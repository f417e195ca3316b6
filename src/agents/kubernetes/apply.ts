import { pause } from '../../client/pause.ts'
import { isStatus, type KubernetesApi } from './api.ts'
import { type KubernetesObject, MANAGER } from './objects.ts'

export interface Application {
  readonly path: string
  readonly manifest: KubernetesObject
  /** Its kind was defined just now, so that it may be unknown for a moment. */
  readonly isDefined?: boolean
}
export interface HowToApply {
  readonly signal: AbortSignal
  readonly dryRun: boolean
  /** Takes fields over that others manage. */
  readonly force: boolean
}

const AGAIN_MS = 200
/** Milliseconds for which a kind may still be unknown after its definition. */
const DEFINED_MS = 10_000

/**
 * Server-side apply. Null: a dry run cannot say without the namespace or the definition, which would be created before.
 * @throws ApiError
 */
export async function applyManifest(
  api: KubernetesApi,
  { path, manifest, isDefined = false }: Application,
  { signal, dryRun, force }: HowToApply,
): Promise<KubernetesObject | null> {
  const query = {
    fieldManager: MANAGER,
    force: String(force),
    fieldValidation: 'Strict',
    dryRun: dryRun ? 'All' : undefined,
  }
  const since = performance.now()
  for (;;) {
    try {
      return await api.apply<KubernetesObject>(path, manifest, query)
    } catch (error) {
      signal.throwIfAborted()
      if (dryRun && isStatus(error, 404)) return null
      const isYoung = isDefined && isStatus(error, 404) && performance.now() - since < DEFINED_MS
      if (!isYoung) throw error
      await pause(AGAIN_MS, signal)
    }
  }
}
