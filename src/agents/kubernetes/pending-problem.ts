import type { V1Pod } from '@kubernetes/client-node'

/** Why a pod does not start. Pure. */

export interface PendingProblem {
  /** FINAL does not pass by itself; the others may. */
  readonly kind: 'FINAL' | 'IMAGE' | 'SCHEDULING'
  readonly message: string
}

/** Reasons of a waiting container. */
const FINAL_REASONS = [
  ...['InvalidImageName', 'ErrImageNeverPull', 'ImageInspectError'],
  ...['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'],
]
const IMAGE_REASONS = ['ErrImagePull', 'ImagePullBackOff', 'RegistryUnavailable']
export function pendingProblem({ status }: V1Pod): PendingProblem | null {
  const waiting = status?.containerStatuses?.[0]?.state?.waiting
  if (waiting?.reason) {
    const message = sentence(waiting.reason, waiting.message)
    if (FINAL_REASONS.includes(waiting.reason)) return { kind: 'FINAL', message }
    if (IMAGE_REASONS.includes(waiting.reason))
      return { kind: 'IMAGE', message: `Its image cannot be pulled. ${message}` }
  }
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable')
    return { kind: 'SCHEDULING', message: `No node takes it. ${sentence(scheduled.reason, scheduled.message)}` }
  return null
}

const MAX_MESSAGE = 1_000
export const sentence = (reason: string, message: string | undefined): string =>
  (message ? `${reason}: ${message}` : `${reason}.`).slice(0, MAX_MESSAGE)
