import type { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { keyOf, MANAGER, type ObjectRef } from '../../../../agents/kubernetes/objects.ts'
import { ITEM } from './marks.ts'

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
    return `/api/v1/namespaces/${encodeURIComponent(this.namespace)}/configmaps/${this.#name}`
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
    await this.#api.apply(this.#path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, query)
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
