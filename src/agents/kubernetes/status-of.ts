import { groupOf, type KubernetesObject } from './objects.ts'
import { CURRENT, conditionOf, failed, inProgress, type ObjectStatus } from './status.ts'
import { STATUS_RULES } from './status-rules.ts'

/**
 * The status of an object by the rules of kstatus (https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus), but for jobs: one is
 * current when it has completed, since what depends on it waits for its result.
 */
export function statusOf(object: KubernetesObject): ObjectStatus {
  const { metadata, status } = object
  if (metadata.deletionTimestamp !== undefined) return inProgress('it is being deleted')
  const observed = status?.observedGeneration
  if (typeof observed === 'number' && metadata.generation !== undefined && observed < metadata.generation)
    return inProgress('its controller has not seen its change yet')
  const rule = STATUS_RULES[`${groupOf(object.apiVersion)}/${object.kind}`]
  return rule ? rule(object) : byConditions(object)
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
