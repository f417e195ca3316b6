import type { Application } from '../../../../agents/kubernetes/apply.ts'
import { DEPLOYMENTS } from '../../../../agents/kubernetes/kind-names.ts'
import type { KubernetesObject, ObjectRef } from '../../../../agents/kubernetes/objects.ts'
import type { Marks, Path } from './marks.ts'

/** An object with its place in the cluster. */
export interface PlacedRef extends ObjectRef {
  readonly path: string
}
export interface PlacedObject extends PlacedRef, Application {}

/** The objects of one instance. */
export interface Plan {
  /** The first that is created, with the marks of the instance. The others are deleted with it. */
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
  readonly marks: Marks
}

const COLLECTIONS = {
  Namespace: ['v1', '/api/v1/namespaces'],
  ResourceQuota: ['v1', 'resourcequotas'],
  LimitRange: ['v1', 'limitranges'],
  Service: ['v1', 'services'],
  ServiceAccount: ['v1', 'serviceaccounts'],
  Deployment: ['apps/v1', DEPLOYMENTS],
} as const
type Kind = keyof typeof COLLECTIONS

export function refTo(kind: Kind, namespace: string | null, name: string): PlacedRef {
  const [apiVersion, collection] = COLLECTIONS[kind]
  const base = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const path = namespace === null ? `${collection}/${name}` : `${base}/namespaces/${namespace}/${collection}/${name}`
  return { apiVersion, kind, namespace, name, path }
}

type Content = Pick<KubernetesObject, 'spec'> & {
  readonly metadata: Omit<KubernetesObject['metadata'], 'name' | 'namespace'>
}
export function placed(ref: PlacedRef, { metadata, spec }: Content): PlacedObject {
  const { apiVersion, kind, name, namespace } = ref
  const at = { name, ...(namespace === null ? {} : { namespace }) }
  return { ...ref, manifest: { apiVersion, kind, metadata: { ...at, ...metadata }, ...(spec ? { spec } : {}) } }
}
