import type { LimitRequest } from '../../../core/limit-request.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import { resolveLimits, without } from '../../limit-requests.ts'
import { workload } from './details.ts'
import { endWorkload } from './end-workload.ts'

declare module '../../../core/tree.ts' {
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
