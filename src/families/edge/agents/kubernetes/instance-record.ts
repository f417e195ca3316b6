import { fieldsOf, type KubernetesObject, MANAGER, type ObjectMetadata } from '../../../../agents/kubernetes/objects.ts'
import { ANNOTATIONS, LABELS } from './names.ts'

/** A spec of an instance, and the operation that applies it. */
export interface Revision {
  readonly objectId: string
  readonly operationId: string
  readonly specRevision: number
  readonly spec: unknown
}
/** An instance as labels and annotations of its first object tell. */
export interface InstanceRecord extends Revision {
  readonly phase: 'CREATING' | 'UPDATING' | 'READY'
  /** While it is not READY: what it was before; null: it was not there. */
  readonly previous: Revision | null
}

/** The name of a cluster instance, or that and the name of its app instance. */
export type Path = readonly string[]

export const labelsOf = (
  cloudletId: string,
  { objectId, operationId, specRevision }: Omit<Revision, 'spec'>,
): Readonly<Record<string, string>> => ({
  [LABELS.managedBy]: MANAGER,
  [LABELS.cloudlet]: cloudletId,
  [LABELS.object]: objectId,
  [LABELS.operation]: operationId,
  [LABELS.specRevision]: String(specRevision),
})

export const annotationsOf = (
  path: Path,
  { phase, spec, previous }: InstanceRecord,
): Readonly<Record<string, string>> => ({
  [ANNOTATIONS.path]: path.join('/'),
  [ANNOTATIONS.phase]: phase,
  [ANNOTATIONS.spec]: JSON.stringify(spec),
  ...(previous === null ? {} : { [ANNOTATIONS.previous]: JSON.stringify(previous) }),
})

export const pathOf = ({ metadata }: KubernetesObject): Path | null =>
  metadata.annotations?.[ANNOTATIONS.path]?.split('/') ?? null

/** Null: they were changed in the cluster, so the object cannot be identified. */
export function readRecord({ metadata }: KubernetesObject): InstanceRecord | null {
  const { labels = {}, annotations = {} } = metadata
  const phase = annotations[ANNOTATIONS.phase]
  const revision = revisionOf({
    objectId: labels[LABELS.object],
    operationId: labels[LABELS.operation],
    specRevision: Number(labels[LABELS.specRevision]),
    spec: parse(annotations[ANNOTATIONS.spec]),
  })
  if (!revision || (phase !== 'CREATING' && phase !== 'UPDATING' && phase !== 'READY')) return null
  return { ...revision, phase, previous: revisionOf(parse(annotations[ANNOTATIONS.previous])) }
}

/** The revision that a value has among other things. Null: it is none. */
export function revisionOf(value: unknown): Revision | null {
  const { objectId, operationId, specRevision, spec } = fieldsOf(value)
  if (typeof objectId !== 'string' || typeof operationId !== 'string' || !Number.isInteger(specRevision)) return null
  return spec === undefined ? null : { objectId, operationId, specRevision: Number(specRevision), spec }
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The existing cluster that a cluster instance was made for; null: the CRM's own. */
export function clusterOf({ metadata }: KubernetesObject): string | null {
  const { cluster } = fieldsOf(parse(metadata.annotations?.[ANNOTATIONS.spec]))
  return typeof cluster === 'string' ? cluster : null
}

export const isOurs = ({ metadata }: { readonly metadata: ObjectMetadata }, cloudletId: string, path: Path): boolean =>
  metadata.labels?.[LABELS.cloudlet] === cloudletId && metadata.annotations?.[ANNOTATIONS.path] === path.join('/')
