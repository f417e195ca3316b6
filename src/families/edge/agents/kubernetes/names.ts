import { createHash } from 'node:crypto'

/** Names of objects in the cluster. */

export const LABELS = {
  managedBy: 'app.kubernetes.io/managed-by',
  /** Marks all objects of a cloudlet with the cloudlet's id. */
  cloudlet: 'phaseline.io/cloudlet',
  /** Marks all objects of an instance with the instance's id. */
  object: 'phaseline.io/object',
  /** The operation that was the last to change it. */
  operation: 'phaseline.io/operation',
  specRevision: 'phaseline.io/spec-revision',
  /** Pods of an app instance. It never changes, since a deployment's selector must not. */
  app: 'phaseline.io/app',
} as const

export const ANNOTATIONS = {
  /** Names, from the cluster instance's down. */
  path: 'phaseline.io/path',
  /** CREATING or UPDATING until it is READY. */
  phase: 'phaseline.io/phase',
  spec: 'phaseline.io/spec',
  /** While it is not READY: what it was before. */
  previous: 'phaseline.io/previous',
} as const

export const CONTAINER = 'app'
/** The quota and the limit range of a cluster instance. */
export const LIMITS = 'phaseline'

const MAX_NAME = 63
const HASHED = /-[0-9a-f]{10}$/

/** A hash makes it unique, since case, underscores and all beyond the length are lost. */
function hashed(words: readonly string[], of: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 10)
  const text = words
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  return `${text.slice(0, MAX_NAME - 1 - hash.length).replaceAll(/^-+|-+$/g, '')}-${hash}`
}

/** Cloudlets of several servers may have the same name on one cluster. */
export const namespaceName = (cloudlet: { readonly id: string; readonly name: string }, cluster: string): string =>
  hashed(['phaseline', cloudlet.name, cluster], [cloudlet.id, cluster])

/** The name itself where it can be that of a service. One that looks like a hashed one is hashed, too. */
export const appName = (name: string): string =>
  /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name) && !HASHED.test(name) ? name : hashed(['app', name], [name])
