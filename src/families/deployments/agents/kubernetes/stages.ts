import { createHash } from 'node:crypto'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'

/**
 * Hooks and waves of Argo CD (https://argo-cd.readthedocs.io/en/stable/user-guide/sync-waves/), and hooks of Helm as Argo CD
 * takes them: they become the order in which objects are applied.
 */

const ARGO_HOOK = 'argocd.argoproj.io/hook'
const ARGO_WAVE = 'argocd.argoproj.io/sync-wave'
const HELM_HOOK = 'helm.sh/hook'
const HELM_WEIGHT = 'helm.sh/hook-weight'

const STAGES: Readonly<Record<string, number>> = {
  ...{ PreSync: -1, Sync: 0, PostSync: 1 },
  ...{ 'pre-install': -1, 'pre-upgrade': -1, 'post-install': 1, 'post-upgrade': 1, 'crd-install': 0 },
}

interface Stage {
  /** Before, with or after the objects that are no hooks. */
  readonly stage: number
  readonly wave: number
}

/** Null: a hook for something else than an application, such as a failure or a test. */
export function stageOf({ metadata: { annotations = {} } }: KubernetesObject): Stage | null {
  const hooks = [annotations[ARGO_HOOK], annotations[HELM_HOOK]].flatMap((text) => text?.split(',') ?? [])
  const wave = Math.trunc(Number(annotations[ARGO_WAVE] ?? annotations[HELM_WEIGHT] ?? 0)) || 0
  if (hooks.length === 0) return { stage: 0, wave }
  const known = hooks.flatMap((hook) => STAGES[hook.trim()] ?? [])
  return known[0] === undefined ? null : { stage: known[0], wave }
}

/** Objects of a stage are applied once all of the one before are current. */
export function stagesOf<T extends { readonly manifest: KubernetesObject }>(
  objects: readonly T[],
): readonly (readonly T[])[] {
  const keyOf = ({ manifest }: T): string => JSON.stringify(stageOf(manifest))
  return [...Map.groupBy(objects, keyOf).values()].toSorted(([one], [other]) => {
    const [a, b] = [one, other].map((first) => (first ? stageOf(first.manifest) : null) ?? { stage: 0, wave: 0 })
    return (a?.stage ?? 0) - (b?.stage ?? 0) || (a?.wave ?? 0) - (b?.wave ?? 0)
  })
}

/** A hook with `generateName` gets a name of its content: another content is another object, and the earlier one goes. */
export function withName(object: KubernetesObject): KubernetesObject {
  const { name, generateName, ...metadata } = object.metadata as KubernetesObject['metadata'] & {
    readonly generateName?: string
  }
  if (name !== undefined || generateName === undefined) return object
  const digest = createHash('sha256').update(JSON.stringify(object)).digest('hex').slice(0, 8)
  return { ...object, metadata: { ...metadata, name: `${generateName}${digest}` } }
}
