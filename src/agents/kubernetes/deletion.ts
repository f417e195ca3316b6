import { type KubernetesApi, unless } from './api.ts'
import { inBatches } from './in-batches.ts'
import { type KubernetesObject, type PlacedRef, titleOf } from './objects.ts'
import { pollUntil } from './poll.ts'
import { conditionOf } from './status.ts'

/** An object whose deletion has been requested. */
export interface Terminating extends PlacedRef {
  readonly uid: string | undefined
}
export interface GoneOptions {
  readonly signal: AbortSignal
  onWait(step: string, gone: number, total: number): void
}

/**
 * Requests the deletion of an object and of all that controllers have made of it. Does nothing if its name belongs to another
 * object by now, or it is being deleted. @throws ApiError
 */
export const requestDeletion = (api: KubernetesApi, { path, uid }: Terminating): Promise<unknown> =>
  unless([409], api.delete(path, { propagationPolicy: 'Foreground', preconditions: { uid } }))

/** Waits until objects are gone, including the work of controllers behind finalizers. */
export async function untilGone(
  api: KubernetesApi,
  all: readonly Terminating[],
  { signal, onWait }: GoneOptions,
): Promise<void> {
  let pending = all
  await pollUntil(async () => {
    const found = await inBatches(pending, async (one) => ({ one, object: await api.find<KubernetesObject>(one.path) }))
    const left = found.filter(({ one, object }) => object !== null && object.metadata.uid === one.uid)
    const [first] = left
    if (!first) return true
    pending = left.map(({ one }) => one)
    onWait(`${titleOf(first.one)} is being deleted${whyNot(first.object)}`, all.length - left.length, all.length)
    return false
  }, signal)
}

/** Conditions of a namespace that say what keeps it. */
const REMAINING = [
  ...['NamespaceContentRemaining', 'NamespaceFinalizersRemaining', 'NamespaceDeletionContentFailure'],
  ...['NamespaceDeletionDiscoveryFailure', 'NamespaceDeletionGroupVersionParsingFailure'],
]

function whyNot(object: KubernetesObject | null): string {
  if (!object) return ''
  const { finalizers = [] } = object.metadata
  const conditions = REMAINING.map((type) => conditionOf(object, type)).filter((one) => one?.status === 'True')
  const parts = [
    ...(finalizers.length > 0 ? [`its finalizers are ${finalizers.join(', ')}`] : []),
    ...conditions.map((one) => one?.text ?? ''),
  ]
  return parts.length > 0 ? `: ${parts.join('; ')}` : ''
}
