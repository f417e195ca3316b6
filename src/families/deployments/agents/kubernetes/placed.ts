import type { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { type KubernetesObject, keyOf, type ObjectRef, titleOf } from '../../../../agents/kubernetes/objects.ts'
import type { WorkContext } from '../../../../client/index.ts'
import { DeployError } from '../deploy-error.ts'
import type { Discovery } from './discovery.ts'
import type { Inventory } from './inventory.ts'
import { type ManifestConfig, marked } from './read-config.ts'

/** One item at work. */
export interface Run {
  readonly api: KubernetesApi
  readonly item: string
  /** The namespace of objects that name none. */
  readonly namespace: string
  readonly config: ManifestConfig
  readonly discovery: Discovery
  readonly inventory: Inventory
  readonly context: WorkContext
}

/** A manifest with its place in the cluster. */
export interface Placed extends ObjectRef {
  readonly title: string
  readonly path: string
  /** With our marks. */
  readonly manifest: KubernetesObject
  /** It is of a kind that the manifests define. */
  readonly isDefined: boolean
}

/** @throws DeployError */
export async function placeAll({ config, discovery, namespace, item }: Run): Promise<readonly Placed[]> {
  const placed: Placed[] = []
  for (const manifest of config.manifests) {
    const { apiVersion, kind, metadata } = manifest
    const resource = await discovery.resourceOf(manifest)
    if (!resource)
      throw new DeployError(
        'KUBERNETES_REFUSED',
        `The cluster has no kind ${kind} of ${apiVersion} (${metadata.name}).`,
      )
    const at = resource.isNamespaced ? (metadata.namespace ?? namespace) : null
    const ref = { apiVersion, kind, namespace: at, name: metadata.name }
    const path = await discovery.pathOf(ref)
    if (path === null) continue
    const { isDefined = false } = resource
    placed.push({ ...ref, title: titleOf(ref), path, manifest: marked(manifest, at, item), isDefined })
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
