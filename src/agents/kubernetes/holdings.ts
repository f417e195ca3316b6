import { ApiError, type KubernetesApi, OF_OTHERS, unless } from './api.ts'
import { inBatches } from './in-batches.ts'
import { fieldsOf, type KubernetesObject, LABEL_PREFIX, listOf, type ObjectMetadata, POLICY } from './objects.ts'
import { resourcePath, versionPath } from './paths.ts'

/** Finds what would go with a namespace or a definition. */

/** An object that outlives what has created it, by our annotation or Helm's. */
export const isKept = ({ annotations }: ObjectMetadata): boolean =>
  annotations?.[POLICY] === 'keep' || annotations?.['helm.sh/resource-policy']?.trim().toLowerCase() === 'keep'

const isTerminating = ({ deletionTimestamp }: ObjectMetadata): boolean => deletionTimestamp !== undefined

/** An agent has marked it, or an annotation keeps it. A controller's objects go with their owner. */
function isWanted(metadata: ObjectMetadata): boolean {
  const { annotations, labels, ownerReferences = [] } = metadata
  if (isTerminating(metadata) || ownerReferences.some(({ controller }) => controller)) return false
  return Object.keys({ ...annotations, ...labels }).some((key) => key.startsWith(LABEL_PREFIX)) || isKept(metadata)
}

type Test = (metadata: ObjectMetadata) => boolean

/**
 * The first wanted object in a namespace, e.g. "ConfigMap settings". Null: there is none.
 * @param isOwn objects that do not count
 */
export const wantedIn = (api: KubernetesApi, namespace: string, isOwn: Test = () => false): Promise<string | null> =>
  orUnknown(async () => {
    for await (const { apiVersion, name, kind } of namespacedKinds(api)) {
      const path = resourcePath(apiVersion, name, { namespace })
      const found = await firstOf(api, path, (metadata) => isWanted(metadata) && !isOwn(metadata))
      if (found !== null) return `${kind} ${found}`
    }
    return null
  })

/** The first object of the kind that a definition defines, whoever has created it, but for those that do not count. */
export const instanceOf = (api: KubernetesApi, { spec }: KubernetesObject, isOwn: Test): Promise<string | null> =>
  orUnknown(async () => {
    const { plural, kind } = fieldsOf(spec?.names)
    const version = listOf(spec?.versions)
      .map(fieldsOf)
      .find(({ served }) => served === true)
    if (!version) return null
    const path = resourcePath(`${String(spec?.group)}/${String(version.name)}`, String(plural))
    const found = await firstOf(api, path, (metadata) => !isTerminating(metadata) && !isOwn(metadata))
    return found === null ? null : `${String(kind)} ${found}`
  })

/** An API that does not answer, or denies access, might have named objects. */
async function orUnknown(find: () => Promise<string | null>): Promise<string | null> {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `objects that cannot be listed (${error.describe(error.message.slice(0, 200))})`
  }
}

interface Kind {
  readonly apiVersion: string
  /** The plural, as it stands in paths. */
  readonly name: string
  readonly kind: string
}
interface KindList {
  readonly resources: readonly {
    readonly name: string
    readonly kind: string
    readonly namespaced: boolean
    readonly verbs: readonly string[]
  }[]
}
interface GroupList {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[]
}

/** Each kind once, in one of its versions. */
async function* namespacedKinds(api: KubernetesApi): AsyncGenerator<Kind> {
  const { groups } = await api.get<GroupList>('/apis')
  const versions = groups.map((group) => group.versions.map(({ groupVersion }) => groupVersion))
  for (const group of [['v1'], ...versions]) {
    const kinds = new Map<string, Kind>()
    for (const { apiVersion, resources } of await inBatches(group, (one) => kindsOf(api, one)))
      for (const { name, kind, namespaced, verbs } of resources)
        if (namespaced && verbs.includes('list') && !kinds.has(name)) kinds.set(name, { apiVersion, name, kind })
    yield* kinds.values()
  }
}

async function kindsOf(api: KubernetesApi, apiVersion: string): Promise<KindList & Pick<Kind, 'apiVersion'>> {
  const { resources } = await api.get<KindList>(versionPath(apiVersion), { attempts: OF_OTHERS })
  return { apiVersion, resources }
}

/** The name of the first object of a list that fits. Null: there is none, or the kind is gone. */
const firstOf = (api: KubernetesApi, path: string, fits: Test): Promise<string | null> =>
  unless([404], findFirst(api, path, fits))

async function findFirst(api: KubernetesApi, path: string, fits: Test): Promise<string | null> {
  const request = { attempts: OF_OTHERS, metadataOnly: true }
  const found = await api.first<Pick<KubernetesObject, 'metadata'>>(path, request, ({ metadata }) => fits(metadata))
  return found && found.metadata.name
}
