import { hardenedContainer, hardenedPod, literally } from '../../../../agents/kubernetes/hardened-pod.ts'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import {
  type AppPort,
  DEADLINE_SECONDS,
  type KubernetesAppSpec,
  MIN_READY_SECONDS,
} from '../../protocol/kubernetes-specs.ts'
import { annotationsOf, labelsOf } from './instance-record.ts'
import { ANNOTATIONS, appName, CONTAINER, LABELS } from './names.ts'
import { type PlacedObject, type Plan, type PlanInput, placed, refTo } from './plan.ts'
import { type PodSecurity, textsOf } from './plan-cluster.ts'
import { readAppSpec } from './read-spec.ts'

const REPLICAS = 1
const GRACE_SECONDS = 30

/** An app instance as a deployment and, with ports, a service. @throws CrmProblem */
export function planApp({ cloudletId, path, namespace, record }: PlanInput, podSecurity: PodSecurity): Plan {
  const spec = readAppSpec(record.spec, podSecurity === 'baseline')
  const name = appName(path.at(-1) ?? '')
  const selector = { [LABELS.cloudlet]: cloudletId, [LABELS.app]: name }
  const labels = { ...labelsOf(cloudletId, record), [LABELS.app]: name }
  const serviceRef = refTo('Service', namespace, name)
  const ports = spec.ports ?? []
  const serviceOf = ({ metadata }: KubernetesObject): PlacedObject =>
    placed(serviceRef, {
      metadata: {
        labels,
        annotations: { [ANNOTATIONS.path]: path.join('/') },
        ownerReferences: [
          // The deployment is gone only once the service is.
          { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: metadata.uid ?? '', blockOwnerDeletion: true },
        ],
      },
      spec: { type: spec.serviceType ?? 'ClusterIP', selector, ports: ports.map(servicePort) },
    })
  return {
    anchor: placed(refTo('Deployment', namespace, name), {
      metadata: { labels, annotations: annotationsOf(path, record) },
      spec: {
        replicas: spec.replicas ?? REPLICAS,
        minReadySeconds: spec.minReadySeconds ?? MIN_READY_SECONDS,
        progressDeadlineSeconds: spec.progressDeadlineSeconds ?? DEADLINE_SECONDS,
        selector: { matchLabels: selector },
        template: { metadata: { labels: selector }, spec: podOf(spec) },
      },
    }),
    parts: (anchor) => (ports.length > 0 ? [serviceOf(anchor)] : []),
    unwanted: ports.length > 0 ? [] : [serviceRef],
  }
}

const podOf = (spec: KubernetesAppSpec) => ({
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? GRACE_SECONDS,
  securityContext: hardenedPod(spec),
  containers: [containerOf(spec)],
})

const containerOf = (spec: KubernetesAppSpec) => ({
  name: CONTAINER,
  image: spec.image,
  ...(spec.imagePullPolicy ? { imagePullPolicy: spec.imagePullPolicy } : {}),
  ...(spec.command ? { command: spec.command.map(literally) } : {}),
  ...(spec.args ? { args: spec.args.map(literally) } : {}),
  env: Object.entries(spec.env ?? {}).map(([name, value]) => ({ name, value: literally(value) })),
  ports: containerPorts(spec.ports ?? []),
  resources: {
    requests: textsOf(spec.resources?.requests ?? {}),
    limits: textsOf(spec.resources?.limits ?? {}),
  },
  ...(spec.readinessProbe ? { readinessProbe: spec.readinessProbe } : {}),
  securityContext: hardenedContainer(spec.readOnlyRootFilesystem ?? false),
})

/** Several ports of the service may lead to the same. */
function containerPorts(ports: readonly AppPort[]) {
  const all = ports.map(({ port, targetPort = port, protocol = 'TCP' }) => ({ containerPort: targetPort, protocol }))
  return [...new Map(all.map((one) => [`${one.protocol}-${one.containerPort}`, one])).values()]
}

const servicePort = ({ port, targetPort = port, protocol = 'TCP', name }: AppPort) => ({
  name: name ?? `${protocol.toLowerCase()}-${port}`,
  port,
  targetPort,
  protocol,
})
