import type { Application } from '../../../../agents/kubernetes/apply.ts'
import type { KubernetesObject, PlacedRef } from '../../../../agents/kubernetes/objects.ts'
import { DEPLOYMENTS, resourcePath } from '../../../../agents/kubernetes/paths.ts'
import type { InstanceRecord, Path } from './instance-record.ts'

export interface PlacedObject extends PlacedRef, Application {}

/** The objects of one instance. */
export interface Plan {
  /** The first that is created, with the record of the instance. The others are deleted with it. */
  readonly anchor: PlacedObject
  /** @param anchor as it is in the cluster */
  parts(anchor: KubernetesObject): readonly PlacedObject[]
  /** Objects of the same names that the spec does not want. */
  readonly unwanted: readonly PlacedRef[]
}

export interface PlanInput {
  readonly cloudletId: string
  readonly path: Path
  readonly namespace: string
  readonly record: InstanceRecord
}

const RESOURCES = {
  Namespace: ['v1', 'namespaces'],
  ResourceQuota: ['v1', 'resourcequotas'],
  LimitRange: ['v1', 'limitranges'],
  Service: ['v1', 'services'],
  ServiceAccount: ['v1', 'serviceaccounts'],
  Deployment: ['apps/v1', DEPLOYMENTS],
} as const
type Kind = keyof typeof RESOURCES

export function refTo(kind: Kind, namespace: string | null, name: string): PlacedRef {
  const [apiVersion, plural] = RESOURCES[kind]
  return { apiVersion, kind, namespace, name, path: resourcePath(apiVersion, plural, { namespace, name }) }
}

type Content = Pick<KubernetesObject, 'spec'> & {
  readonly metadata: Omit<KubernetesObject['metadata'], 'name' | 'namespace'>
}
export function placed(ref: PlacedRef, { metadata, spec }: Content): PlacedObject {
  const { apiVersion, kind, name, namespace } = ref
  const at = { name, ...(namespace === null ? {} : { namespace }) }
  return { ...ref, manifest: { apiVersion, kind, metadata: { ...at, ...metadata }, ...(spec ? { spec } : {}) } }
}
