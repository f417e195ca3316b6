import { groupOf, isBuiltIn, type ObjectRef } from '../../../../agents/kubernetes/objects.ts'

/** Prerequisites of others are applied before them, and deleted after them. */
const NAMESPACES = 0
const DEFINITIONS = 1
const NEEDED = 2
const OTHERS = 3
/** Objects of kinds that the cluster was taught: their controllers, which may hold finalizers, go after them. */
const CUSTOM = 4
const HOOKS = 5
const LAST = HOOKS

const RANKS: Readonly<Record<string, number>> = {
  '/Namespace': NAMESPACES,
  'apiextensions.k8s.io/CustomResourceDefinition': DEFINITIONS,
  ...Object.fromEntries(
    [
      ...['/ResourceQuota', '/LimitRange', '/ServiceAccount', '/Secret', '/ConfigMap', '/Service'],
      ...['/PersistentVolume', '/PersistentVolumeClaim', 'storage.k8s.io/StorageClass'],
      ...['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'].map(
        (kind) => `rbac.authorization.k8s.io/${kind}`,
      ),
      'scheduling.k8s.io/PriorityClass',
    ].map((key) => [key, NEEDED]),
  ),
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': HOOKS,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': HOOKS,
  'apiregistration.k8s.io/APIService': HOOKS,
}

/** Others of their wave cannot be created before them, such as a binding without its role. */
const FIRST_OF_WAVE = new Set(['ResourceQuota', 'LimitRange', 'ServiceAccount', 'Role', 'ClusterRole'])

export interface Wave<T> {
  readonly objects: readonly T[]
  /** Objects of later waves cannot even be created before these are ready. */
  readonly isFoundation: boolean
}

type Kinded = Pick<ObjectRef, 'apiVersion' | 'kind'>
const rankOf = ({ apiVersion, kind }: Kinded): number => {
  const group = groupOf(apiVersion)
  return RANKS[`${group}/${kind}`] ?? (isBuiltIn(group) ? OTHERS : CUSTOM)
}

/** In the order of their application; within a wave as given. */
export function wavesOf<T extends Kinded>(objects: readonly T[]): readonly Wave<T>[] {
  return Array.from({ length: LAST + 1 }, (_, rank) => ({
    objects: objects.filter((one) => rankOf(one) === rank),
    isFoundation: rank <= DEFINITIONS,
  })).filter((wave) => wave.objects.length > 0)
}

/** Objects that can be applied at the same time, in the order of their application. A webhook may want custom resources as given. */
export const peersOf = <T extends Kinded>(objects: readonly T[]): readonly (readonly T[])[] =>
  wavesOf(objects).flatMap(({ objects: wave }) => {
    if (wave.some((one) => rankOf(one) >= CUSTOM)) return wave.map((one) => [one])
    const { first = [], others = [] } = Object.groupBy(wave, ({ kind }) =>
      FIRST_OF_WAVE.has(kind) ? 'first' : 'others',
    )
    return [first, others].filter((peers) => peers.length > 0)
  })
