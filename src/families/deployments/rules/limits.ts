import type { LimitRequest } from '../../../core/limit-request.ts'
import { isFinished, type Node, type Slice, WORK_STATE } from '../../../core/tree.ts'
import type { LimitGrant } from '../../limit-grant.ts'
import { deployItem } from './details.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    limits: {
      readonly args: { readonly id: string; readonly limits: readonly LimitRequest[]; readonly now: string }
      readonly answer: LimitGrant
    }
  }
  interface FamilyEffects {
    limitsFreed: string
  }
}

/**
 * Limits of deploy items. One that asks for some is INIT and not offered until it is granted all of them: its work is there, and DONE as
 * far as agents are concerned. So it is between two attempts, first for the time of the next one. It holds its limits from the offer
 * until its deployer has ended, or its lease has.
 */
export const isParked = ({ row, work }: Node): boolean =>
  row.phase === 'INIT' && work?.state === WORK_STATE.DONE && work.jobId === row.jobId

/** Gives back what an item holds or waits for, once nobody is at work on it for the job that has asked. */
export function freeLimits(item: Node, slice: Slice): void {
  const { limits } = deployItem(item)
  const { work, row } = item
  if (!limits) return
  const isAtWork = !isFinished(row) && work?.action === 'RECONCILE' && work.state !== WORK_STATE.DONE
  if (isAtWork || (isParked(item) && !limits.held)) return
  // A deployer that was overruled may work until its lease ends.
  if (limits.held && work?.leaseUntil && work.leaseUntil > slice.now) return slice.setClock(item, work.leaseUntil)
  if (item.clock) slice.setClock(item, null)
  slice.setDetails(item, { limits: isParked(item) ? { ...limits, held: false } : null })
  slice.effect('limitsFreed', row.id)
}
