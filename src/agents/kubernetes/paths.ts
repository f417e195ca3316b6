/** Paths of a cluster's API. */

/** The plural of the kind Deployment of `apps/v1`. */
export const DEPLOYMENTS = 'deployments'

/** The path of a version of a group; the core group has no name. */
export const versionPath = (apiVersion: string): string =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`

interface Location {
  /** Null or absent: the kind has none, or the objects of all are meant. */
  readonly namespace?: string | null
  /** Absent: the collection is meant. */
  readonly name?: string | undefined
}

/** The path of an object, or of a collection. */
export function resourcePath(apiVersion: string, plural: string, { namespace = null, name }: Location = {}): string {
  const scope = namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`
  return `${versionPath(apiVersion)}${scope}/${plural}${object}`
}
