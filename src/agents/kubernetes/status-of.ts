import { fieldsOf, groupOf, type KubernetesObject, listOf } from './objects.ts'
import { CURRENT, conditionOf, failed, inProgress, numberOf, type ObjectStatus } from './status.ts'

/**
 * The status of an object by the rules of kstatus (https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus), but for jobs: one is
 * current when it has completed, since what depends on it waits for its result.
 */
export function statusOf(object: KubernetesObject): ObjectStatus {
  const rule = STATUS_RULES[`${groupOf(object.apiVersion)}/${object.kind}`]
  return unsettled(object) ?? (rule ? rule(object) : byConditions(object))
}

/** Null: its status is that of its present content. */
export function unsettled({ metadata, status }: KubernetesObject): ObjectStatus | null {
  if (metadata.deletionTimestamp !== undefined) return inProgress('it is being deleted')
  const observed = status?.observedGeneration
  if (typeof observed === 'number' && metadata.generation !== undefined && observed < metadata.generation)
    return inProgress('its controller has not seen its change yet')
  return null
}

/** The conditions of most custom resources. */
function byConditions(object: KubernetesObject): ObjectStatus {
  const stalled = conditionOf(object, 'Stalled')
  if (stalled?.status === 'True') return failed(stalled.text)
  const reconciling = conditionOf(object, 'Reconciling')
  if (reconciling?.status === 'True') return inProgress(reconciling.text)
  const ready = conditionOf(object, 'Ready')
  return ready && ready.status !== 'True' ? inProgress(ready.text) : CURRENT
}

/** The rules of kinds whose status says more than their conditions. By group and kind. */
type StatusRule = (object: KubernetesObject) => ObjectStatus

const STATUS_RULES: Readonly<Record<string, StatusRule>> = {
  'apps/Deployment': deployment,
  'apps/StatefulSet': statefulSet,
  'apps/DaemonSet': daemonSet,
  'apps/ReplicaSet': replicaSet,
  'batch/Job': job,
  '/Pod': pod,
  '/PersistentVolumeClaim': ({ status }) =>
    status?.phase === 'Bound' ? CURRENT : inProgress(`it is ${String(status?.phase ?? 'Pending')}, not Bound`),
  '/Service': ({ spec }) =>
    spec?.type === 'LoadBalancer' && !spec.clusterIP ? inProgress('it has no address yet') : CURRENT,
  'apiextensions.k8s.io/CustomResourceDefinition': definition,
}

/** The first count that is not reached yet. */
function missing(counts: readonly (readonly [what: string, is: number, wanted: number])[]): ObjectStatus | null {
  const found = counts.find(([, is, wanted]) => is < wanted)
  return found ? inProgress(`${found[1]} of ${found[2]} replicas are ${found[0]}`) : null
}

function deployment(object: KubernetesObject): ObjectStatus {
  const { spec, status } = object
  const progressing = conditionOf(object, 'Progressing')
  if (progressing?.reason === 'ProgressDeadlineExceeded') return failed(progressing.text)
  if (status?.observedGeneration === undefined) return inProgress('its controller has not seen it yet')
  const wanted = numberOf(spec?.replicas, 1)
  const [all, updated] = [numberOf(status.replicas), numberOf(status.updatedReplicas)]
  const short = missing([
    ['created', all, wanted],
    ['updated', updated, wanted],
  ])
  if (short) return short
  if (all > updated) return inProgress(`${all - updated} old replicas are still there`)
  return (
    missing([
      ['available', numberOf(status.availableReplicas), wanted],
      ['ready', numberOf(status.readyReplicas), wanted],
    ]) ?? CURRENT
  )
}

function statefulSet({ spec, status }: KubernetesObject): ObjectStatus {
  const strategy = fieldsOf(spec?.updateStrategy)
  if (strategy.type === 'OnDelete') return CURRENT
  if (status?.observedGeneration === undefined) return inProgress('its controller has not seen it yet')
  const wanted = numberOf(spec?.replicas, 1)
  const short = missing([
    ['created', numberOf(status.replicas), wanted],
    ['ready', numberOf(status.readyReplicas), wanted],
  ])
  if (short) return short
  if (numberOf(status.replicas) > wanted) return inProgress('replicas beyond the wanted ones are still there')
  const partition = numberOf(fieldsOf(strategy.rollingUpdate).partition)
  if (partition > 0) return missing([['updated', numberOf(status.updatedReplicas), wanted - partition]]) ?? CURRENT
  return status.currentRevision === status.updateRevision ? CURRENT : inProgress('not all replicas are updated')
}

function daemonSet({ status }: KubernetesObject): ObjectStatus {
  if (status?.observedGeneration === undefined || status.desiredNumberScheduled === undefined)
    return inProgress('its controller has not seen it yet')
  const wanted = numberOf(status.desiredNumberScheduled)
  return (
    missing([
      ['scheduled', numberOf(status.currentNumberScheduled), wanted],
      ['updated', numberOf(status.updatedNumberScheduled), wanted],
      ['available', numberOf(status.numberAvailable), wanted],
      ['ready', numberOf(status.numberReady), wanted],
    ]) ?? CURRENT
  )
}

function replicaSet(object: KubernetesObject): ObjectStatus {
  const { spec, status } = object
  const failure = conditionOf(object, 'ReplicaFailure')
  if (failure?.status === 'True') return inProgress(failure.text)
  if (status?.observedGeneration === undefined) return inProgress('its controller has not seen it yet')
  const wanted = numberOf(spec?.replicas, 1)
  return (
    missing([
      ['created', numberOf(status.replicas), wanted],
      ['available', numberOf(status.availableReplicas), wanted],
      ['ready', numberOf(status.readyReplicas), wanted],
    ]) ?? CURRENT
  )
}

function job(object: KubernetesObject): ObjectStatus {
  const failure = conditionOf(object, 'Failed')
  if (failure?.status === 'True') return failed(failure.text)
  if (conditionOf(object, 'Complete')?.status === 'True') return CURRENT
  const { active = 0, succeeded = 0, failed: broken = 0 } = object.status ?? {}
  return inProgress(
    `${String(active)} of its pods are active, ${String(succeeded)} succeeded, ${String(broken)} failed`,
  )
}

function pod(object: KubernetesObject): ObjectStatus {
  const phase = object.status?.phase
  if (phase === 'Succeeded') return CURRENT
  if (phase === 'Failed') return failed(podProblem(object) ?? 'it has failed')
  if (phase === 'Running' && conditionOf(object, 'Ready')?.status === 'True') return CURRENT
  return inProgress(podProblem(object) ?? `it is ${String(phase ?? 'Pending')}`)
}

/** Why the first of the pods that says so is not ready. */
export function problemOfPods(pods: readonly KubernetesObject[]): string | null {
  for (const pod of pods) {
    const problem = podProblem(pod)
    if (problem !== null) return `pod ${pod.metadata.name}: ${problem}`
  }
  return null
}

/** Why a pod is not ready, if it says so. */
function podProblem(object: KubernetesObject): string | null {
  const statuses = [object.status?.initContainerStatuses, object.status?.containerStatuses]
    .flatMap(listOf)
    .map(fieldsOf)
  for (const { name, state, lastState } of statuses) {
    const { reason, message } = fieldsOf(fieldsOf(state).waiting ?? fieldsOf(state).terminated)
    if (typeof reason !== 'string' || ['ContainerCreating', 'PodInitializing', 'Completed'].includes(reason)) continue
    const { exitCode } = fieldsOf(fieldsOf(lastState).terminated)
    const ended = exitCode === undefined ? '' : ` (exit code ${String(exitCode)})`
    return `container ${String(name)}: ${reason}${ended}${typeof message === 'string' ? `: ${message}` : ''}`
  }
  const scheduled = conditionOf(object, 'PodScheduled')
  return scheduled?.status === 'False' ? scheduled.text : null
}

function definition(object: KubernetesObject): ObjectStatus {
  const names = conditionOf(object, 'NamesAccepted')
  if (names?.status === 'False') return failed(names.text)
  const established = conditionOf(object, 'Established')
  return established?.status === 'True' ? CURRENT : inProgress(established?.text ?? 'it is not established yet')
}
