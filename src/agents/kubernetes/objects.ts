/** Objects of a cluster, as far as agents look into them. */

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMetadata
  readonly spec?: Fields
  readonly status?: Fields
}
export interface ObjectMetadata {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly generation?: number
  readonly deletionTimestamp?: string
  readonly finalizers?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly annotations?: Readonly<Record<string, string>>
}
/** An object that goes with its owner. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  /** The owner manages the object. */
  readonly controller?: boolean
  /** The owner is gone only once this object is. */
  readonly blockOwnerDeletion?: boolean
}
export type Fields = Readonly<Record<string, unknown>>

/** Names an object. The namespace is null where its kind has none. */
export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string | null
  readonly name: string
}

/** With its path in the API. */
export interface PlacedRef extends ObjectRef {
  readonly path: string
}

export const titleOf = ({ kind, namespace, name }: ObjectRef): string =>
  `${kind} ${namespace === null ? '' : `${namespace}/`}${name}`

/** The same for all versions of a group. */
export const keyOf = ({ apiVersion, kind, namespace, name }: ObjectRef): string =>
  [groupOf(apiVersion), kind, namespace ?? '', name].join('/')

export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''

/** Kinds of these groups come with a cluster. */
export const isBuiltIn = (group: string): boolean => !group.includes('.') || group.endsWith('.k8s.io')

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Our field manager. */
export const MANAGER = 'phaseline'
/** Prefix of the labels and annotations that agents mark their objects with. */
export const LABEL_PREFIX = 'phaseline.io/'
/** The annotation with the policy of an object, which its manifest or the config of its item has. */
export const POLICY = `${LABEL_PREFIX}policy`
