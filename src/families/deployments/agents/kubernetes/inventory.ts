import { type KubernetesApi, unless } from '../../../../agents/kubernetes/api.ts'
import { keyOf, MANAGER, type ObjectRef } from '../../../../agents/kubernetes/objects.ts'
import { resourcePath } from '../../../../agents/kubernetes/paths.ts'
import { DeployError } from '../deploy-error.ts'
import { ITEM } from './annotations.ts'

interface Stored {
  readonly data?: Readonly<Record<string, string>>
}

/**
 * The objects that an item may have in the cluster. The inventory is a config map there, so that it survives the
 * deployer, and is written before anything is applied. It is in the deployer's namespace, whatever namespaces the
 * manifests name over time.
 */
export class Inventory {
  readonly #api: KubernetesApi
  readonly #item: string
  readonly namespace: string

  constructor(api: KubernetesApi, item: string, namespace: string) {
    this.#api = api
    this.#item = item
    this.namespace = namespace
  }

  get #name(): string {
    return `phaseline-${this.#item}`
  }
  get #path(): string {
    return resourcePath('v1', 'configmaps', { namespace: this.namespace, name: this.#name })
  }

  async read(): Promise<readonly ObjectRef[]> {
    const found = await this.#api.find<Stored>(this.#path)
    return JSON.parse(found?.data?.objects ?? '[]') as readonly ObjectRef[]
  }

  async write(objects: readonly ObjectRef[]): Promise<void> {
    const labels = { 'app.kubernetes.io/managed-by': MANAGER }
    const metadata = { name: this.#name, namespace: this.namespace, labels, annotations: { [ITEM]: this.#item } }
    const data = { objects: JSON.stringify(objects) }
    const query = { fieldManager: MANAGER, force: 'true' }
    const written = await unless(
      [404],
      this.#api.apply(this.#path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, query),
    )
    if (written !== null) return
    const message = `The inventory of the item is kept in the namespace ${this.namespace}, which is not there: create it, or name another with --namespace.`
    throw new DeployError('KUBERNETES_TARGET', message)
  }

  remove(): Promise<void> {
    return this.#api.delete(this.#path)
  }
}

/** Each object of two lists once, in the version of the later list. */
export function union(earlier: readonly ObjectRef[], later: readonly ObjectRef[]): readonly ObjectRef[] {
  return [...new Map([...earlier, ...later].map((ref) => [keyOf(ref), ref])).values()]
}

export function without(objects: readonly ObjectRef[], others: readonly ObjectRef[]): readonly ObjectRef[] {
  const keys = new Set(others.map(keyOf))
  return objects.filter((ref) => !keys.has(keyOf(ref)))
}
