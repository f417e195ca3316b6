import type { V1ContainerStateTerminated, V1Pod } from '@kubernetes/client-node'
import { z } from 'zod'
import { exitOf } from '../../../../agents/exit-of.ts'
import { type PendingProblem, pendingProblem, sentence } from '../../../../agents/kubernetes/pending-problem.ts'
import type { WorkloadEnd } from '../runtime/runtime.ts'
import { ANNOTATIONS } from './names.ts'

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

export function stateOf(pod: V1Pod): PodState {
  const container = pod.status?.containerStatuses?.[0]
  if (isOver(pod)) return { is: 'OVER', end: endOf(pod), hasOutput: container?.state?.terminated !== undefined }
  if (container?.state?.running || container?.state?.terminated) return { is: 'RUNNING' }
  return { is: 'PENDING', problem: pendingProblem(pod) }
}

/** A pod that is deleted is over once its kubelet, or whoever speaks for a lost node, says that nothing of it runs. */
function isOver({ metadata, spec, status }: V1Pod): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return true
  return metadata?.deletionTimestamp !== undefined && (metadata.deletionGracePeriodSeconds === 0 || !spec?.nodeName)
}

/** Milliseconds since 1970, by the clock of its node. Null: its container has not ended. */
function endedAt({ status }: V1Pod): number | null {
  const finishedAt = status?.containerStatuses?.[0]?.state?.terminated?.finishedAt
  return finishedAt ? new Date(finishedAt).getTime() : null
}

function endOf(pod: V1Pod): WorkloadEnd {
  const { deletionTimestamp, annotations } = pod.metadata ?? {}
  // A decision counts only with the deletion that follows it.
  const decided = deletionTimestamp ? readEnd(annotations?.[ANNOTATIONS.end]) : null
  if (decided) return decided
  const { reason = '', message, containerStatuses, conditions = [] } = pod.status ?? {}
  if (EVICTED_REASONS.includes(reason))
    return { how: 'GONE', reason: 'EVICTED', message: `Its node has evicted its pod. ${sentence(reason, message)}` }
  const terminated = containerStatuses?.[0]?.state?.terminated
  const reasons = [reason, terminated?.reason, ...conditions.map((condition) => condition.reason)]
  if (terminated?.reason === 'ContainerStatusUnknown' || (isCutOff(pod) && reasons.some(isLost)))
    return { how: 'GONE', reason: 'NODE_LOST', message: 'Its node is lost.' }
  if (isCutOff(pod)) return DELETED
  if (!terminated) return { how: 'NOT_STARTED', message: `Its node has refused it. ${sentence(reason, message)}` }
  return exited(terminated)
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
function readEnd(text: string | undefined): WorkloadEnd | null {
  if (text === undefined) return null
  try {
    return decidedEnd.parse(JSON.parse(text))
  } catch {
    return null
  }
}
