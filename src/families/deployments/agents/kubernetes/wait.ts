import { type KubernetesApi, unless } from '../../../../agents/kubernetes/api.ts'
import { inBatches } from '../../../../agents/kubernetes/in-batches.ts'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import { resourcePath } from '../../../../agents/kubernetes/paths.ts'
import { pollUntil } from '../../../../agents/kubernetes/poll.ts'
import { selectedBy } from '../../../../agents/kubernetes/selected-by.ts'
import { CURRENT, failed, type ObjectStatus } from '../../../../agents/kubernetes/status.ts'
import { problemOfPods, statusOf } from '../../../../agents/kubernetes/status-of.ts'
import { DeployError } from '../deploy-error.ts'
import type { Placed, Run } from './placed.ts'
import { rulesOf, statusByRules } from './readiness.ts'

/** Pods are looked into once their workload has had so long to start them. */
const SLOW_MS = 3_000

/**
 * Waits until all objects are current. Returns their state at that moment.
 * @throws DeployError as soon as one has failed
 */
export async function untilCurrent(
  run: Run,
  objects: readonly Placed[],
  { judge = statusOf, applied = new Map() }: WaitOptions = {},
): Promise<ReadonlyMap<Placed, KubernetesObject>> {
  const { signal, report } = run.context
  const current = new Map<Placed, KubernetesObject>()
  const since = performance.now()
  await pollUntil(async () => {
    const pending = objects.filter((one) => !current.has(one))
    const found = await inBatches(pending, (one) => readStatus(run, one, { judge, applied }))
    for (const { placed, object, status } of found) {
      if (status.is === 'FAILED') throw new DeployError('KUBERNETES_FAILED', `${placed.title}: ${status.message}`)
      if (status.is === 'CURRENT') current.set(placed, object)
    }
    const [first] = found.filter(({ status }) => status.is === 'IN_PROGRESS')
    if (!first) return true
    const isSlow = performance.now() - since > SLOW_MS
    const problem = isSlow ? problemOfPods(await selectedBy(run.api, first.object, 'pods')) : null
    const step = `${first.placed.title}: ${first.status.message}${problem === null ? '' : `; ${problem}`}`
    report({ progress: { step, value: current.size, total: objects.length, unit: 'objects' } })
    return false
  }, signal)
  return current
}

interface WaitOptions {
  /** It may require more of an object than its status. */
  readonly judge?: (object: KubernetesObject, placed: Placed) => ObjectStatus
  /** The objects as they were when they were applied. */
  readonly applied?: ReadonlyMap<Placed, KubernetesObject>
}
async function readStatus(run: Run, placed: Placed, { judge, applied }: Required<WaitOptions>) {
  const { api } = run
  const object = await api.find<KubernetesObject>(placed.path)
  if (!object) return { placed, ...(await endOf(api, placed, applied.get(placed))) }
  const rules = rulesOf(run, placed)
  const status =
    rules.length > 0
      ? await statusByRules(run, object, rules)
      : (await waitsForConsumer(api, object))
        ? CURRENT
        : statusOf(object)
  return { placed, object, status: status.is === 'CURRENT' ? judge(object, placed) : status }
}

/** Events of a job that has not succeeded. */
const FAILURES = /^(BackoffLimitExceeded|DeadlineExceeded|FailedIndexes|PodFailurePolicy|MaxFailedIndexesExceeded)$/
interface Event {
  readonly reason?: string
  readonly message?: string
}

/** The end of a job that the cluster has removed after it, as its `ttlSecondsAfterFinished` says. @throws DeployError for others */
async function endOf(api: KubernetesApi, { title, manifest, namespace }: Placed, last: KubernetesObject | undefined) {
  if (manifest.kind !== 'Job' || manifest.spec?.ttlSecondsAfterFinished === undefined || !last?.metadata.uid)
    throw new DeployError('KUBERNETES_FAILED', `${title} was deleted while it was waited for.`)
  const path = resourcePath('v1', 'events', { namespace })
  const query = { fieldSelector: `involvedObject.uid=${last.metadata.uid}` }
  const failure = await api.first<Event>(path, { query }, ({ reason = '' }) => FAILURES.test(reason))
  const status = failure ? failed(`${failure.reason}: ${failure.message ?? 'it has failed'}`) : CURRENT
  return { object: last, status }
}

/** A volume claim of a class that binds late is bound once a pod has it, which may be of another item. */
async function waitsForConsumer(
  api: KubernetesApi,
  { apiVersion, kind, spec, status }: KubernetesObject,
): Promise<boolean> {
  if (apiVersion !== 'v1' || kind !== 'PersistentVolumeClaim' || status?.phase !== 'Pending') return false
  const name = spec?.storageClassName
  if (typeof name !== 'string' || name === '') return false
  // Without the right to read classes it waits until it is bound, as before.
  const path = resourcePath('storage.k8s.io/v1', 'storageclasses', { name })
  const found = await unless([403, 404], api.get<{ readonly volumeBindingMode?: string }>(path))
  return found?.volumeBindingMode === 'WaitForFirstConsumer'
}
