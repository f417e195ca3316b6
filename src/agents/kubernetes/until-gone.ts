import { pause } from '../../client/pause.ts'
import type { KubernetesApi } from './api.ts'
import { inBatches } from './in-batches.ts'
import { type KubernetesObject, type ObjectRef, titleOf } from './objects.ts'
import { conditionOf } from './status.ts'

const FIRST_MS = 250
const LAST_MS = 2_000

export interface Going extends ObjectRef {
  readonly path: string
  readonly uid: string | undefined
}
export interface GoneOptions {
  readonly signal: AbortSignal
  onWait(step: string, gone: number, total: number): void
}

/** Waits until objects are gone, including the work of controllers behind finalizers. */
export async function untilGone(
  api: KubernetesApi,
  all: readonly Going[],
  { signal, onWait }: GoneOptions,
): Promise<void> {
  let pending = all
  for (let delay = FIRST_MS; ; delay = Math.min(LAST_MS, delay * 1.5)) {
    const found = await inBatches(pending, async (one) => ({ one, object: await api.find<KubernetesObject>(one.path) }))
    const left = found.filter(({ one, object }) => object !== null && object.metadata.uid === one.uid)
    const [first] = left
    if (!first) return
    pending = left.map(({ one }) => one)
    onWait(`${titleOf(first.one)} is being deleted${whyNot(first.object)}`, all.length - left.length, all.length)
    await pause(delay, signal)
    signal.throwIfAborted()
  }
}

/** Conditions of a namespace that name its remaining content. */
const REMAINING = ['NamespaceContentRemaining', 'NamespaceFinalizersRemaining', 'NamespaceDeletionContentFailure']

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
