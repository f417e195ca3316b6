import type { Quantities } from '../../protocol/kubernetes-specs.ts'
import { annotationsOf, labelsOf } from './instance-record.ts'
import { ANNOTATIONS, LIMITS } from './names.ts'
import { type Plan, type PlanInput, placed, refTo } from './plan.ts'
import { readClusterSpec } from './read-spec.ts'

/** The Pod Security Standard that namespaces enforce. */
export type PodSecurity = 'restricted' | 'baseline'

/** A cluster instance as a namespace, with what limits it. @throws CrmProblem */
export function planCluster({ cloudletId, path, namespace, record }: PlanInput, podSecurity: PodSecurity): Plan {
  const { quota, limitRange } = readClusterSpec(record.spec)
  const labels = labelsOf(cloudletId, record)
  const metadata = { labels, annotations: { [ANNOTATIONS.path]: path.join('/') } }
  const quotaRef = refTo('ResourceQuota', namespace, LIMITS)
  const limitsRef = refTo('LimitRange', namespace, LIMITS)
  const parts = [
    ...(quota ? [placed(quotaRef, { metadata, spec: { hard: textsOf(quota) } })] : []),
    ...(limitRange ? [placed(limitsRef, { metadata, spec: { limits: [limitsOf(limitRange)] } })] : []),
  ]
  return {
    anchor: placed(refTo('Namespace', null, namespace), {
      metadata: {
        labels: { ...labels, 'pod-security.kubernetes.io/enforce': podSecurity },
        annotations: annotationsOf(path, record),
      },
    }),
    parts: () => parts,
    unwanted: [...(quota ? [] : [quotaRef]), ...(limitRange ? [] : [limitsRef])],
  }
}

const limitsOf = (limitRange: Readonly<Record<string, Quantities>>) => ({
  type: 'Container',
  ...Object.fromEntries(Object.entries(limitRange).map(([name, amounts]) => [name, textsOf(amounts)])),
})

export const textsOf = (amounts: Quantities): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))
