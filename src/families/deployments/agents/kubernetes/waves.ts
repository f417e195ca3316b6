import { groupOf, type ObjectRef } from '../../../../agents/kubernetes/objects.ts'

/** Prerequisites of others are applied before them, and deleted after them. */
const NAMESPACES = 0
const DEFINITIONS = 1
const NEEDED = 2
const OTHERS = 3
const HOOKS = 4
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

export interface Wave<T> {
  readonly objects: readonly T[]
  /** Objects of later waves cannot even be created before these are ready. */
  readonly isFoundation: boolean
}

/** In the order of their application; within a wave as given. */
export function wavesOf<T extends Pick<ObjectRef, 'apiVersion' | 'kind'>>(objects: readonly T[]): readonly Wave<T>[] {
  const rankOf = ({ apiVersion, kind }: T): number => RANKS[`${groupOf(apiVersion)}/${kind}`] ?? OTHERS
  return Array.from({ length: LAST + 1 }, (_, rank) => ({
    objects: objects.filter((one) => rankOf(one) === rank),
    isFoundation: rank <= DEFINITIONS,
  })).filter((wave) => wave.objects.length > 0)
}
