import type { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import {
  type KubernetesObject,
  keyOf,
  type ObjectRef,
  type PlacedRef,
  titleOf,
} from '../../../../agents/kubernetes/objects.ts'
import { pollUntil } from '../../../../agents/kubernetes/poll.ts'
import type { WorkContext } from '../../../../client/index.ts'
import type { Sandbox } from '../../../../sandbox/index.ts'
import { DeployError } from '../deploy-error.ts'
import type { Discovery } from './discovery.ts'
import type { Inventory } from './inventory.ts'
import { type ObjectSettings, settingsOf, withPolicy } from './policies.ts'
import { annotated, type ManifestConfig } from './read-config.ts'

/** One item at work. */
export interface Run {
  readonly api: KubernetesApi
  readonly item: string
  /** The job of the item that runs. */
  readonly job: string
  /** The namespace of objects that name none. */
  readonly namespace: string
  readonly config: ManifestConfig
  /** Manifests that the item leaves alone, which `config` does not have. */
  readonly ignored: readonly KubernetesObject[]
  readonly discovery: Discovery
  readonly inventory: Inventory
  readonly context: WorkContext
  /** For the readiness rules of the config. */
  readonly sandbox: Sandbox
}

/** A manifest with its place in the cluster. */
export interface Placed extends PlacedRef {
  readonly title: string
  /** With our annotations. */
  readonly manifest: KubernetesObject
  /** It is of a kind that the manifests define. */
  readonly isDefined: boolean
  readonly settings: ObjectSettings
}

/** Waits until the cluster serves the kinds of all manifests, such as those that an operator defines once it runs. */
export async function untilServed({ config, discovery, context }: Run): Promise<void> {
  const { signal, report } = context
  await pollUntil(async () => {
    for (const { apiVersion, kind, metadata } of config.manifests) {
      if (await discovery.resourceOf({ apiVersion, kind })) continue
      const missing = `The cluster has no kind ${kind} of ${apiVersion}`
      if (config.dryRun) throw new DeployError('KUBERNETES_REFUSED', `${missing} (${metadata.name}).`)
      discovery.forget(apiVersion)
      report({ progress: { step: `${missing} yet, which ${metadata.name} is of` } })
      return false
    }
    return true
  }, signal)
}

/** The manifests of kinds that the cluster serves. @throws DeployError */
export async function placeAll({ config, discovery, namespace, item }: Run): Promise<readonly Placed[]> {
  const placed: Placed[] = []
  for (const manifest of config.manifests) {
    const { apiVersion, kind, metadata } = manifest
    const resource = await discovery.resourceOf(manifest)
    // The caller has waited for it, or does without.
    if (!resource) continue
    const at = resource.isNamespaced ? (metadata.namespace ?? namespace) : null
    const ref = { apiVersion, kind, namespace: at, name: metadata.name }
    const path = await discovery.pathOf(ref)
    if (path === null) continue
    const { isDefined = false } = resource
    const settings = settingsOf(config, manifest, namespace)
    const applied = annotated(withPolicy(manifest, settings.policy), at, item)
    placed.push({ ...ref, title: titleOf(ref), path, manifest: applied, isDefined, settings })
  }
  return placed
}

/** @throws DeployError when an object is among them twice */
export function refuseTwins(placed: readonly Placed[]): void {
  const seen = new Set<string>()
  for (const one of placed) {
    if (seen.has(keyOf(one))) throw new DeployError('KUBERNETES_CONFIG', `${one.title} is among the manifests twice.`)
    seen.add(keyOf(one))
  }
}

export const refOf = ({ apiVersion, kind, namespace, name }: ObjectRef): ObjectRef => ({
  apiVersion,
  kind,
  namespace,
  name,
})
