import { inBatches } from '../../../../agents/kubernetes/in-batches.ts'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import { selectedBy } from '../../../../agents/kubernetes/selected-by.ts'
import type { ObjectStatus } from '../../../../agents/kubernetes/status.ts'
import { statusOf } from '../../../../agents/kubernetes/status-of.ts'
import { podProblem } from '../../../../agents/kubernetes/status-rules.ts'
import { pause } from '../../../../client/pause.ts'
import { DeployError } from '../deploy-error.ts'
import type { Placed, Run } from './placed.ts'

const FIRST_MS = 250
const LAST_MS = 2_000
/** Pods are looked into once their workload has had so long to start them. */
const SLOW_MS = 3_000

/**
 * Waits until all objects are current; `judge` may require more of one than its status. Returns their state at that
 * moment.
 * @throws DeployError as soon as one has failed
 */
export async function untilCurrent(
  run: Run,
  objects: readonly Placed[],
  judge: (object: KubernetesObject, placed: Placed) => ObjectStatus = statusOf,
): Promise<ReadonlyMap<Placed, KubernetesObject>> {
  const { signal, report } = run.context
  const current = new Map<Placed, KubernetesObject>()
  const since = performance.now()
  for (let delay = FIRST_MS; ; delay = Math.min(LAST_MS, delay * 1.5)) {
    const pending = objects.filter((one) => !current.has(one))
    const found = await inBatches(pending, (one) => look(run, one, judge))
    for (const { placed, object, status } of found) {
      if (status.is === 'FAILED') throw new DeployError('KUBERNETES_FAILED', `${placed.title}: ${status.message}`)
      if (status.is === 'CURRENT') current.set(placed, object)
    }
    const [first] = found.filter(({ status }) => status.is === 'IN_PROGRESS')
    if (!first) return current
    const isSlow = performance.now() - since > SLOW_MS
    const problem = isSlow ? await problemOfPods(run, first.object) : null
    const step = `${first.placed.title}: ${first.status.message}${problem === null ? '' : `; ${problem}`}`
    report({ progress: { step, value: current.size, total: objects.length, unit: 'objects' } })
    await pause(delay, signal)
    signal.throwIfAborted()
  }
}

type Judge = (object: KubernetesObject, placed: Placed) => ObjectStatus
async function look({ api }: Run, placed: Placed, judge: Judge) {
  const object = await api.find<KubernetesObject>(placed.path)
  if (!object) throw new DeployError('KUBERNETES_FAILED', `${placed.title} was deleted while it was waited for.`)
  const status = statusOf(object)
  return { placed, object, status: status.is === 'CURRENT' ? judge(object, placed) : status }
}

/** Why the first pod of a workload that has a problem is not ready. */
async function problemOfPods({ api }: Run, workload: KubernetesObject): Promise<string | null> {
  for (const pod of await selectedBy(api, workload, 'pods')) {
    const problem = podProblem(pod)
    if (problem !== null) return `pod ${pod.metadata.name}: ${problem}`
  }
  return null
}
