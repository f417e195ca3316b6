import type { V1ConfigMap, V1ObjectMeta, V1PersistentVolumeClaim, V1Secret } from '@kubernetes/client-node'
import { partsOf } from '../runtime/file-path.ts'
import { StartProblem, type Workload } from '../runtime/runtime.ts'
import { claimName, isLabelValue, LABELS, workloadName } from './names.ts'
import type { PodSettings } from './settings.ts'

/** The inputs of a pod, as objects of the cluster. */

/** Keys of the secret. */
export const EVENT_KEY = 'event.json'
export const TOKEN_KEY = 'token'
export const secretKey = (name: string): string => `secret.${name}`
/** Keys of the config map. */
export const fileKey = (index: number): string => `file-${index}`

/** The limit of Kubernetes for one secret or config map, less a little for the rest of it. */
const MAX_BYTES = 1_000_000

export function metaOf(
  workload: Pick<Workload, 'id' | 'workerId' | 'project'>,
  place: string,
  owner?: V1Secret,
): V1ObjectMeta {
  const { id, workerId, project } = workload
  const { uid, name } = owner?.metadata ?? {}
  return {
    name: workloadName(id),
    labels: {
      [LABELS.place]: place,
      [LABELS.object]: id,
      [LABELS.worker]: workerId,
      ...(isLabelValue(project) ? { [LABELS.project]: project } : {}),
    },
    ...(uid && name ? { ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name, uid }] } : {}),
  }
}

/**
 * Event, secrets and token. It is created first, and owns all other objects of the workload.
 * @throws StartProblem
 */
export function secretOf(workload: Workload, place: string): V1Secret {
  const { event, secrets, token } = workload
  const texts: Readonly<Record<string, string>> = {
    [EVENT_KEY]: JSON.stringify(event),
    ...(token === null ? {} : { [TOKEN_KEY]: token }),
    ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [secretKey(name), value])),
  }
  requireSize('Its event and its secrets', Object.values(texts))
  const data = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  )
  return { metadata: metaOf(workload, place), data }
}

/** The secrets that output must not show. */
export const maskedBy = ({ data = {} }: V1Secret): readonly string[] =>
  Object.entries(data)
    .filter(([key]) => key !== EVENT_KEY)
    .map(([, value]) => Buffer.from(value, 'base64').toString())

/**
 * The files of a workload.
 * @throws StartProblem
 */
export function filesOf(workload: Workload, place: string, owner: V1Secret): V1ConfigMap {
  const { files } = workload
  for (const { path } of files) partsOf(path)
  requireSize(
    'Its files',
    files.map(({ content }) => content),
  )
  const data = Object.fromEntries(files.map(({ content }, index) => [fileKey(index), content]))
  return { metadata: metaOf(workload, place, owner), data }
}

function requireSize(subject: string, texts: readonly string[]): void {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > MAX_BYTES)
    throw new StartProblem(`${subject} have ${bytes} bytes, and a cluster stores at most ${MAX_BYTES} of one workload.`)
}

/** The workspace of a worker. It goes with the worker's secret, should that be deleted from outside. */
export function claimOf(
  workload: Workload,
  place: string,
  { workspace }: PodSettings,
  owner: V1Secret,
): V1PersistentVolumeClaim {
  const isWorker = workload.workspace === workload.id
  const { labels, ownerReferences } = metaOf(workload, place, owner)
  return {
    metadata: {
      name: claimName(workload.workspace ?? workload.id),
      labels: labels ?? {},
      ...(isWorker && ownerReferences ? { ownerReferences } : {}),
    },
    spec: {
      accessModes: [workspace.accessMode],
      ...(workspace.storageClassName === undefined ? {} : { storageClassName: workspace.storageClassName }),
      resources: { requests: { storage: workspace.size } },
    },
  }
}
