import type { V1ConfigMap, V1ObjectMeta, V1PersistentVolumeClaim, V1Secret } from '@kubernetes/client-node'
import { credentialLine } from '../../../../agents/git/clone.ts'
import { StartProblem, type Workload } from '../runtime/runtime.ts'
import { partsOf, secretOf as secretOfFile } from '../runtime/workload-files.ts'
import { ANNOTATIONS, claimName, isLabelValue, LABELS, workloadName } from './names.ts'
import type { PodSettings } from './settings.ts'

/** The inputs of a pod, as objects of the cluster. */

/** Keys of the secret. */
export const EVENT_KEY = 'event.json'
export const TOKEN_KEY = 'token'
/** The clone alone gets it. */
export const CREDENTIALS_KEY = 'git-credentials'
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
 * @param start names this very start @throws StartProblem
 */
export function secretOf(workload: Workload, place: string, start: string): V1Secret {
  const { event, secrets, token, clone } = workload
  const texts: Readonly<Record<string, string>> = {
    [EVENT_KEY]: JSON.stringify(event),
    ...(token === null ? {} : { [TOKEN_KEY]: token }),
    ...(clone ? { [CREDENTIALS_KEY]: credentialLine(clone) } : {}),
    ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [secretKey(name), value])),
  }
  requireSize('Its event and its secrets', Object.values(texts))
  const data = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  )
  return { metadata: { ...metaOf(workload, place), annotations: { [ANNOTATIONS.start]: start } }, data }
}

/** The secrets that output must not show. */
export const maskedBy = ({ data = {} }: V1Secret): readonly string[] =>
  Object.entries(data)
    .filter(([key]) => key !== EVENT_KEY)
    .map(([key, value]) => {
      const text = Buffer.from(value, 'base64').toString()
      return key === CREDENTIALS_KEY ? passwordIn(text) : text
    })

const passwordIn = (line: string): string => (line === '' ? '' : decodeURIComponent(new URL(line.trim()).password))

/**
 * The files of a workload that are texts.
 * @throws StartProblem
 */
export function filesOf(workload: Workload, place: string, owner: V1Secret): V1ConfigMap {
  const files = textsOf(workload)
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

/** Files whose content is a text; the others are those of the secret. @throws StartProblem */
export function textsOf(workload: Pick<Workload, 'files' | 'secrets'>): Workload['files'] {
  return workload.files.filter((file) => {
    partsOf(file.path)
    return secretOfFile(file, workload) === null
  })
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
