import type { V1ContainerStateTerminated, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { z } from 'zod'
import { exitOf } from '../../../../agents/exit-of.ts'
import { cloneProblem } from '../../../../agents/git/clone.ts'
import { type PendingProblem, pendingProblem, sentence } from '../../../../agents/kubernetes/pending-problem.ts'
import { parseJson } from '../runtime/parse-json.ts'
import type { WorkloadEnd } from '../runtime/runtime.ts'
import { ANNOTATIONS, CLONE_CONTAINER, CONTAINER, LEAVES_CONTAINER, TAKES_CONTAINER } from './names.ts'

/** The state of a workload from its pod's status. Pure. */
export type PodState =
  /** It has not run yet. */
  | { readonly is: 'PENDING'; readonly problem: PendingProblem | null }
  | { readonly is: 'RUNNING' }
  /** No process of it runs, and none will. */
  | { readonly is: 'OVER'; readonly end: WorkloadEnd; readonly hasOutput: boolean }

/** Reasons of a container that was ended before its program began. */
const NEVER_BEGAN = ['StartError', 'ContainerCannotRun']
/** Reasons of a pod. */
const EVICTED_REASONS = ['Evicted', 'Preempting', 'Shutdown', 'Terminated', 'NodeShutdown']
const LOST_REASONS = ['NodeLost', 'DeletionByPodGC', 'DeletionByTaintManager', 'NodeStatusUnknown']

/** The status of its workload, or of its service. Others may be beside it, in any order. */
const containerOf = ({ status }: V1Pod): V1ContainerStatus | undefined =>
  status?.containerStatuses?.find(({ name }) => name === CONTAINER) ?? status?.containerStatuses?.[0]

export function stateOf(pod: V1Pod): PodState {
  const container = containerOf(pod)
  if (isOver(pod)) return { is: 'OVER', end: endOf(pod), hasOutput: container?.state?.terminated !== undefined }
  if (container?.state?.running || container?.state?.terminated) return { is: 'RUNNING' }
  return { is: 'PENDING', problem: pendingProblem(pod) }
}

/** A pod that is deleted is over once its kubelet, or whoever speaks for a lost node, says that nothing of it runs. */
function isOver(pod: V1Pod): boolean {
  const { metadata, spec, status } = pod
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return true
  // The rest of the pod waits until what the workload has left is read.
  if (leaves(pod) && containerOf(pod)?.state?.terminated) return true
  return metadata?.deletionTimestamp !== undefined && (metadata.deletionGracePeriodSeconds === 0 || !spec?.nodeName)
}

/** A container beside the workload keeps what that leaves within reach. */
export const leaves = ({ spec }: V1Pod): boolean =>
  spec?.containers.some(({ name }) => name === LEAVES_CONTAINER) ?? false

/** When its working folder can be read: now, after a while, or not any more. */
export function reachOf({ metadata, status }: V1Pod): 'NOW' | 'LATER' | 'NEVER' {
  const state = status?.containerStatuses?.find(({ name }) => name === LEAVES_CONTAINER)?.state
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  if (metadata?.deletionTimestamp || hasEnded || state?.terminated) return 'NEVER'
  return state?.running ? 'NOW' : 'LATER'
}

/** It waits for what its workload takes. */
export const waitsForTakes = (pod: V1Pod): boolean => initOf(pod, TAKES_CONTAINER)?.running !== undefined

/** Milliseconds since 1970, by the clock of its node. Null: its container has not ended. */
function endedAt(pod: V1Pod): number | null {
  const finishedAt = containerOf(pod)?.state?.terminated?.finishedAt
  return finishedAt ? new Date(finishedAt).getTime() : null
}

function endOf(pod: V1Pod): WorkloadEnd {
  const { deletionTimestamp, annotations } = pod.metadata ?? {}
  // A decision counts only with the deletion that follows it.
  const decided = deletionTimestamp ? parseJson(decidedEnd, annotations?.[ANNOTATIONS.end]) : null
  if (decided) return decided
  const { reason = '', message, conditions = [] } = pod.status ?? {}
  if (EVICTED_REASONS.includes(reason))
    return { how: 'GONE', reason: 'EVICTED', message: `Its node has evicted its pod. ${sentence(reason, message)}` }
  const terminated = containerOf(pod)?.state?.terminated
  const reasons = [reason, terminated?.reason, ...conditions.map((condition) => condition.reason)]
  if (terminated?.reason === 'ContainerStatusUnknown' || (isCutOff(pod) && reasons.some(isLost)))
    return { how: 'GONE', reason: 'NODE_LOST', message: 'Its node is lost.' }
  if (isCutOff(pod)) return DELETED
  const notPrepared = cloneProblemOf(pod) ?? takesProblemOf(pod)
  if (!terminated && notPrepared) return notPrepared
  if (!terminated) return { how: 'NOT_STARTED', message: `Its node has refused it. ${sentence(reason, message)}` }
  const end = exited(terminated)
  const commit = commitOf(pod)
  return end.how === 'EXITED' && commit !== null ? { ...end, commit } : end
}

const initOf = ({ status }: V1Pod, container: string) =>
  status?.initContainerStatuses?.find(({ name }) => name === container)?.state
const cloneOf = (pod: V1Pod) => initOf(pod, CLONE_CONTAINER)?.terminated

/** The commit that was cloned for a workload; null: it has no clone, or not yet. */
export const commitOf = (pod: V1Pod): string | null =>
  /^commit ([0-9a-f]+)$/m.exec(cloneOf(pod)?.message ?? '')?.[1] ?? null

/** Null: nothing is wrong with its clone. */
function cloneProblemOf(pod: V1Pod): WorkloadEnd | null {
  const terminated = cloneOf(pod)
  if (!terminated || terminated.exitCode === 0) return null
  const variables = pod.spec?.initContainers?.find(({ name }) => name === CLONE_CONTAINER)?.env
  const variable = (wanted: string) =>
    variables?.find(({ name }) => name === wanted)?.value?.replaceAll('$$', '$') ?? ''
  const repository = { url: variable('CLONE_URL'), ref: variable('CLONE_REF'), credentials: null }
  const { message } = cloneProblem(repository, terminated.message ?? terminated.reason ?? '')
  return { how: 'NOT_STARTED', code: 'CLONE_FAILED', message }
}

/** Null: nothing is wrong with what it takes. */
function takesProblemOf(pod: V1Pod): WorkloadEnd | null {
  const terminated = initOf(pod, TAKES_CONTAINER)?.terminated
  if (!terminated || terminated.exitCode === 0) return null
  const { reason = '', message } = terminated
  return {
    how: 'NOT_STARTED',
    message: `Its artifacts cannot be put into its folder: ${sentence(reason, message).trim()}`,
  }
}

export const DELETED: WorkloadEnd = { how: 'GONE', reason: 'DELETED', message: 'Its pod was deleted from outside.' }
const isLost = (reason: string | undefined): boolean => reason !== undefined && LOST_REASONS.includes(reason)

/** Its deletion was requested before its container had ended. */
function isCutOff(pod: V1Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata ?? {}
  if (!deletionTimestamp) return false
  const finishedAt = endedAt(pod)
  // Both have whole seconds.
  const askedAt = new Date(deletionTimestamp).getTime() - deletionGracePeriodSeconds * 1_000
  return finishedAt === null || finishedAt >= askedAt
}

function exited({ exitCode, reason = '', message }: V1ContainerStateTerminated): WorkloadEnd {
  if (NEVER_BEGAN.includes(reason))
    return { how: 'NOT_STARTED', message: `Its command cannot be run. ${sentence(reason, message)}` }
  const end = { how: 'EXITED', ...exitOf(exitCode) } as const
  return reason === 'OOMKilled' ? { ...end, outOfMemory: true } : end
}

const decidedEnd = z.union([
  z.object({ how: z.literal('STOPPED') }),
  z.object({ how: z.literal('NOT_STARTED'), message: z.string() }),
])
