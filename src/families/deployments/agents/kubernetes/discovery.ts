import { isStatus, type KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { fieldsOf, groupOf, type KubernetesObject, type ObjectRef } from '../../../../agents/kubernetes/objects.ts'

/** The resource of a kind in a cluster's API. */
interface Resource {
  readonly plural: string
  readonly isNamespaced: boolean
  /** By a definition among the manifests. */
  readonly isDefined?: boolean
}
interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[]
}

/** Finds the paths of objects: by what the cluster serves, and by the definitions among the manifests, which it will serve. */
export class Discovery {
  readonly #api: KubernetesApi
  readonly #lists = new Map<string, Promise<ResourceList | null>>()
  readonly #defined: ReadonlyMap<string, Resource>

  constructor(api: KubernetesApi, manifests: readonly KubernetesObject[]) {
    this.#api = api
    this.#defined = new Map(manifests.flatMap(definedBy))
  }

  /** Null: the cluster has no such kind. */
  async resourceOf({ apiVersion, kind }: Pick<ObjectRef, 'apiVersion' | 'kind'>): Promise<Resource | null> {
    const defined = this.#defined.get(`${groupOf(apiVersion)}/${kind}`)
    if (defined) return defined
    const list = this.#lists.get(apiVersion) ?? this.#read(apiVersion)
    this.#lists.set(apiVersion, list)
    const found = (await list)?.resources.find((one) => one.kind === kind && !one.name.includes('/'))
    return found ? { plural: found.name, isNamespaced: found.namespaced } : null
  }

  async #read(apiVersion: string): Promise<ResourceList | null> {
    try {
      return await this.#api.get<ResourceList>(baseOf(apiVersion))
    } catch (error) {
      if (isStatus(error, 404)) return null
      throw error
    }
  }

  /** Null: the cluster has no such kind. */
  async pathOf(ref: ObjectRef): Promise<string | null> {
    const resource = await this.resourceOf(ref)
    if (!resource) return null
    const namespace = ref.namespace === null ? '' : `namespaces/${encodeURIComponent(ref.namespace)}/`
    return `${baseOf(ref.apiVersion)}/${namespace}${resource.plural}/${encodeURIComponent(ref.name)}`
  }
}

const baseOf = (apiVersion: string): string => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`)

function definedBy({ kind: own, spec }: KubernetesObject): readonly (readonly [string, Resource])[] {
  const { kind, plural } = fieldsOf(spec?.names)
  // It becomes a segment of paths.
  if (own !== 'CustomResourceDefinition' || typeof plural !== 'string' || !/^[a-z0-9-]+$/.test(plural)) return []
  return [
    [`${String(spec?.group)}/${String(kind)}`, { plural, isNamespaced: spec?.scope === 'Namespaced', isDefined: true }],
  ]
}
