import { ApiError, isStatus, type KubernetesApi } from './api.ts'
import { inBatches } from './in-batches.ts'
import { fieldsOf, type KubernetesObject, listOf, type ObjectMetadata, OWN } from './objects.ts'

/** Finds what would go with a namespace or a definition. */

/** Helm's annotation for an object that outlives what has created it. */
export const isKept = ({ annotations }: ObjectMetadata): boolean =>
  annotations?.['helm.sh/resource-policy']?.trim().toLowerCase() === 'keep'

const isGoing = ({ deletionTimestamp }: ObjectMetadata): boolean => deletionTimestamp !== undefined

/** An agent has marked it, or an annotation keeps it. A controller's objects go with their owner. */
function isWanted(metadata: ObjectMetadata): boolean {
  const { annotations, labels, ownerReferences = [] } = metadata
  if (isGoing(metadata) || ownerReferences.some(({ controller }) => controller)) return false
  return Object.keys({ ...annotations, ...labels }).some((key) => key.startsWith(OWN)) || isKept(metadata)
}

type Test = (metadata: ObjectMetadata) => boolean

/**
 * The first wanted object in a namespace, e.g. "ConfigMap settings". Null: there is none.
 * @param isOwn objects that do not count
 */
export const wantedIn = (api: KubernetesApi, namespace: string, isOwn: Test = () => false): Promise<string | null> =>
  orUnknown(async () => {
    for await (const { base, name, kind } of namespacedKinds(api)) {
      const path = `${base}/namespaces/${encodeURIComponent(namespace)}/${name}`
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
    const path = `/apis/${String(spec?.group)}/${String(version.name)}/${String(plural)}`
    const found = await firstOf(api, path, (metadata) => !isGoing(metadata) && !isOwn(metadata))
    return found === null ? null : `${String(kind)} ${found}`
  })

/** An API that does not answer, or denies access, might have named objects. */
async function orUnknown(find: () => Promise<string | null>): Promise<string | null> {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `objects that cannot be listed (${error.reason || `status ${error.status}`}: ${error.message.slice(0, 200)})`
  }
}

interface Kind {
  readonly base: string
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
interface MetadataList {
  readonly metadata: { readonly continue?: string }
  /** Null: it is empty. */
  readonly items: readonly { readonly metadata: ObjectMetadata }[] | null
}

/** APIs of others are not waited for. */
const ATTEMPTS = 2
const PAGE = 500

/** Each kind once, in one of its versions. */
async function* namespacedKinds(api: KubernetesApi): AsyncGenerator<Kind> {
  const { groups } = await api.get<GroupList>('/apis')
  const bases = groups.map(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`))
  for (const group of [['/api/v1'], ...bases]) {
    const kinds = new Map<string, Kind>()
    for (const { base, resources } of await inBatches(group, (one) => kindsOf(api, one)))
      for (const { name, kind, namespaced, verbs } of resources)
        if (namespaced && verbs.includes('list') && !kinds.has(name)) kinds.set(name, { base, name, kind })
    yield* kinds.values()
  }
}

async function kindsOf(api: KubernetesApi, base: string): Promise<KindList & Pick<Kind, 'base'>> {
  const { resources } = await api.get<KindList>(base, { attempts: ATTEMPTS })
  return { base, resources }
}

/** The name of the first object of a list that fits. */
async function firstOf(api: KubernetesApi, path: string, fits: Test): Promise<string | null> {
  let from: string | undefined
  do {
    const query = { limit: String(PAGE), continue: from }
    const list = await pageOf(api, path, query)
    const found = list?.items?.find(({ metadata }) => fits(metadata))
    if (found) return found.metadata.name
    from = list?.metadata.continue
  } while (from)
  return null
}

/** Null: the kind is gone. */
async function pageOf(
  api: KubernetesApi,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<MetadataList | null> {
  try {
    return await api.get<MetadataList>(path, { query, attempts: ATTEMPTS, metadataOnly: true })
  } catch (error) {
    if (isStatus(error, 404)) return null
    throw error
  }
}
