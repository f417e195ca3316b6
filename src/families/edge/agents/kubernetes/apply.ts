import type { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { isStatus } from '../../../../agents/kubernetes/api.ts'
import { applyManifest } from '../../../../agents/kubernetes/apply.ts'
import { type KubernetesObject, LABEL_PREFIX, MANAGER } from '../../../../agents/kubernetes/objects.ts'
import { pause } from '../../../../client/pause.ts'
import type { PlacedObject } from './plan.ts'

interface How {
  readonly signal: AbortSignal
  readonly dryRun: boolean
}
const RACES = 5
const RACE_MS = 200

/**
 * Makes an object as planned, or with `dryRun` asks what would become of it. Null: that cannot be said, since its namespace is
 * not there. @throws ApiError
 */
export async function apply(api: KubernetesApi, object: PlacedObject, how: How): Promise<KubernetesObject | null> {
  if (object.kind === 'Deployment') return replace(api, object, how)
  return applyManifest(api, object, { ...how, force: true })
}

/**
 * An apply would leave the defaults in the probe that it removes, which is no probe then, and whatever others have added
 * to the pods.
 */
async function replace(api: KubernetesApi, object: PlacedObject, how: How): Promise<KubernetesObject | null> {
  const { path, manifest } = object
  for (let races = 0; ; races += 1) {
    const found = await api.find<KubernetesObject>(path)
    if (!found) return applyManifest(api, object, { ...how, force: true })
    try {
      const query = { fieldManager: MANAGER, dryRun: how.dryRun ? 'All' : undefined }
      return await api.put<KubernetesObject>(path, { ...manifest, metadata: metadataOf(found, manifest) }, query)
    } catch (error) {
      how.signal.throwIfAborted()
      if (!isStatus(error, 404, 409) || races >= RACES) throw error
      await pause(RACE_MS, how.signal)
    }
  }
}

/** With the labels and annotations of others: the deployment's controller has some. */
function metadataOf({ metadata: found }: KubernetesObject, { metadata }: KubernetesObject): object {
  const { managedFields: _ours, ...rest } = found as KubernetesObject['metadata'] & { readonly managedFields?: unknown }
  return {
    ...rest,
    labels: { ...ofOthers(found.labels), ...metadata.labels },
    annotations: { ...ofOthers(found.annotations), ...metadata.annotations },
  }
}

const ofOthers = (values: Readonly<Record<string, string>> = {}): object =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !name.startsWith(LABEL_PREFIX)))
