import { groupOf, type KubernetesObject, keyOf, type ObjectRef, POLICY } from '../../../../agents/kubernetes/objects.ts'
import {
  type KubernetesSettings,
  type ObjectSelector,
  POLICIES,
  type Policy,
} from '../../../../core/deployers/kubernetes-manifest.ts'
import { refuseProblems } from '../deploy-error.ts'

/** The settings of one object. */
export interface ObjectSettings extends Pick<KubernetesSettings, 'conflicts' | 'immutable'> {
  readonly policy: Policy
}

type Selectable = Pick<KubernetesObject, 'apiVersion' | 'kind' | 'metadata'>

/** @param namespace of an object that names none */
export function selects(
  selector: ObjectSelector,
  { apiVersion, kind, metadata }: Selectable,
  namespace: string,
): boolean {
  const { labels = {} } = selector
  return (
    (selector.kind ?? kind) === kind &&
    (selector.apiVersion === undefined || groupOf(selector.apiVersion) === groupOf(apiVersion)) &&
    (selector.name ?? metadata.name) === metadata.name &&
    (selector.namespace === undefined || selector.namespace === (metadata.namespace ?? namespace)) &&
    Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value)
  )
}

/** The annotation of the manifest comes before the config, and the entries of the config before its settings for all. @throws DeployError */
export function settingsOf(config: KubernetesSettings, manifest: KubernetesObject, namespace: string): ObjectSettings {
  const entries = config.policies?.filter((entry) => selects(entry, manifest, namespace)) ?? []
  const given = manifest.metadata.annotations?.[POLICY]
  const { conflicts, immutable } = config
  return {
    conflicts: entries.find((entry) => entry.conflicts !== undefined)?.conflicts ?? conflicts ?? 'take',
    immutable: entries.find((entry) => entry.immutable !== undefined)?.immutable ?? immutable ?? 'refuse',
    policy:
      (given === undefined ? entries.find(({ policy }) => policy !== undefined)?.policy : policyOf(given, manifest)) ??
      'manage',
  }
}

function policyOf(text: string, { kind, metadata }: KubernetesObject): Policy | undefined {
  const known = POLICIES.find((policy) => policy === text)
  const message = `must be one of ${POLICIES.join(', ')}`
  if (!known) refuseProblems('KUBERNETES_CONFIG', [{ path: `${kind} ${metadata.name}: ${POLICY}`, message }])
  return known
}

/** The policy is written down in the cluster, where it counts when the manifest or the entry of the config is gone. */
export function withPolicy(manifest: KubernetesObject, policy: Policy): KubernetesObject {
  const { metadata } = manifest
  if (policy === 'manage' || metadata.annotations?.[POLICY] !== undefined) return manifest
  return { ...manifest, metadata: { ...metadata, annotations: { ...metadata.annotations, [POLICY]: policy } } }
}

interface Ignoring {
  readonly ignored: readonly KubernetesObject[]
  readonly namespace: string
}

/** The item had it once, and leaves it alone from now on. */
export const isIgnored = ({ ignored, namespace }: Ignoring, ref: ObjectRef): boolean =>
  ignored.some(({ apiVersion, kind, metadata }) => {
    const at = ref.namespace === null ? null : (metadata.namespace ?? namespace)
    return keyOf({ apiVersion, kind, namespace: at, name: metadata.name }) === keyOf(ref)
  })
