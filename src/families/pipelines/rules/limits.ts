import type { LimitRequest } from '../../../core/limit-request.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import type { LimitGrant } from '../../limit-grant.ts'
import { resolveLimits, without } from '../../limit-requests.ts'
import { isOver, workload } from './details.ts'
import { cancelWorkload, endWorkload } from './end-workload.ts'

/** The answer to a worker or job that asks for a slot and its limits. */
export interface SlotGrant extends LimitGrant {
  /** It is not to start at all: a newer one has its place, or an older one keeps it. */
  readonly givesWay?: { readonly code: 'SUPERSEDED' | 'SKIPPED'; readonly message: string }
  /** Older ones are to give way to it. */
  readonly replaces?: boolean
}

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    /** The object that takes the place of older ones. */
    limitsReplaced: string
  }
  interface FamilyQuestions {
    /** The event as expressions see it; null: it is gone. */
    eventScope: { readonly args: string; readonly answer: object | null }
  }
}

/**
 * The limits that a worker or job asks for, whose keys are resolved at its first turn. Undefined: they are still to be resolved, or it has
 * ended since they have no value. A job asks for nothing that its worker holds, which may wait for the job.
 */
export function askedLimits(node: Node, slice: Slice): readonly LimitRequest[] | undefined {
  const { limits } = workload(node)
  if (!limits) return []
  // A key may be a text that looks like an expression.
  if (limits.isResolved) return limits.requests
  const resolved = resolveLimits(limits.requests, (keys) => {
    const event = slice.ask('eventScope', node.row.rootId)
    return event ? slice.evaluate(node, keys, { event }) : undefined
  })
  if (!resolved) return undefined
  if (!resolved.ok) {
    const error = { code: 'EXPRESSION', message: resolved.message }
    endWorkload(node, slice, { to: 'SCHEDULING_FAILED', actor: 'CONTROLLER', error })
    return undefined
  }
  const worker = node.row.kind === 'JOB' ? slice.parent(node) : null
  const held = (worker && workload(worker).limits?.requests) ?? []
  const requests = without(resolved.requests, held)
  slice.setDetails(node, { limits: requests.length > 0 ? { requests, isResolved: true } : null })
  return requests
}

/** A newer one has taken its place, although it runs. @param why the sentence with which it was woken */
export function onWake(node: Node, why: string, slice: Slice): void {
  if (node.row.kind !== 'EVENT' && !isOver(node.row.phase))
    cancelWorkload(node, slice, { actor: 'CONTROLLER', code: 'SUPERSEDED', message: why })
}
