import type { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { fieldsOf, groupOf, type KubernetesObject, type ObjectRef } from '../../../../agents/kubernetes/objects.ts'
import { resourcePath, versionPath } from '../../../../agents/kubernetes/paths.ts'

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
    const list = this.#lists.get(apiVersion) ?? this.#api.find<ResourceList>(versionPath(apiVersion))
    this.#lists.set(apiVersion, list)
    const found = (await list)?.resources.find((one) => one.kind === kind && !one.name.includes('/'))
    return found ? { plural: found.name, isNamespaced: found.namespaced } : null
  }

  /** Asks the cluster again for the kinds of this version. */
  forget(apiVersion: string): void {
    this.#lists.delete(apiVersion)
  }

  /** Null: the cluster has no such kind. */
  async pathOf(ref: ObjectRef): Promise<string | null> {
    const resource = await this.resourceOf(ref)
    return resource && resourcePath(ref.apiVersion, resource.plural, ref)
  }
}

function definedBy({ kind: own, spec }: KubernetesObject): readonly (readonly [string, Resource])[] {
  const { kind, plural } = fieldsOf(spec?.names)
  // It becomes a segment of paths.
  if (own !== 'CustomResourceDefinition' || typeof plural !== 'string' || !/^[a-z0-9-]+$/.test(plural)) return []
  return [
    [`${String(spec?.group)}/${String(kind)}`, { plural, isNamespaced: spec?.scope === 'Namespaced', isDefined: true }],
  ]
}
