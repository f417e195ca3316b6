import type { V1Pod } from '@kubernetes/client-node'

/** Why a pod does not start, and how long that may last. */

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
  // A container waits for those that run before it.
  const waiting = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
    .map(({ state }) => state?.waiting)
    .find((one) => one?.reason && one.reason !== 'PodInitializing')
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

/** Limits how long a pod may have a transient problem, by this process's clock, since the cluster's may differ. */
export class ProblemTimeout<K extends string> {
  readonly #limits: Readonly<Record<K, number>>
  #since: { readonly kind: K; readonly at: number } | null = null

  /** @param limits in milliseconds */
  constructor(limits: Readonly<Record<K, number>>) {
    this.#limits = limits
  }

  get remainingMs(): number {
    if (!this.#since) return Number.POSITIVE_INFINITY
    return Math.max(0, this.#since.at + this.#limits[this.#since.kind] - performance.now())
  }

  /** The problem, if it has lasted too long. */
  expired<P extends { readonly kind: K }>(problem: P | null): P | null {
    if (problem?.kind !== this.#since?.kind) this.#since = problem && { kind: problem.kind, at: performance.now() }
    return problem && this.remainingMs === 0 ? problem : null
  }
}
