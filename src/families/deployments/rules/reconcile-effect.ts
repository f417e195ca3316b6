import { isFinished, type ObjectRow } from '../../../core/tree.ts'
import type { Phase, ReconcileMode } from '../../../core/vocabulary.ts'
import { beginOf, type RequestedDetails } from './pending-requests.ts'

/** Deploy items of a tree that are counted: a larger one has more. */
export const COUNTED_ITEMS = 1_000

/** The root whose reconcile is offered, and the deploy items of its tree as they are. */
export interface ReconcileSubject {
  readonly row: Pick<ObjectRow, 'parentId' | 'phase' | 'jobId' | 'finishedJobId' | 'generation' | 'observedGeneration'>
  readonly requested: RequestedDetails
  readonly items: { readonly total: number; readonly unsuccessful: number }
}

/** Tells what a reconcile would run now. Only a job knows which items its imports change. */
export function reconcileEffect(mode: ReconcileMode, subject: ReconcileSubject): string {
  const { row, requested, items } = subject
  const begins = isToBegin(subject) ? 'in the job that is to begin' : beginOf(row, requested)
  const isAsked = requested.nextMode !== null && !requested.nextDeletion
  const when = begins === 'now' ? '' : `, ${begins}`
  return `Runs ${mode === 'IF_CHANGED' ? changed(row, items) : all(row, items)}${when}.${isAsked ? ' It is requested already.' : ''}`
}

/** A job that waits for its imports takes a reconcile, unless it is cancelled. */
const isToBegin = ({ row, requested }: ReconcileSubject): boolean =>
  !isFinished(row) && TO_BEGIN.includes(row.phase) && requested.cancelRequestedAt === null
const TO_BEGIN: readonly Phase[] = ['PENDING', 'PENDING_DEPENDENCIES']

type Items = ReconcileSubject['items']
type Generations = Pick<ObjectRow, 'generation' | 'observedGeneration'>

/** The number of items of a spec that no job has used is unknown. */
function all({ generation, observedGeneration }: Generations, { total }: Items): string {
  if (observedGeneration === 0) return `all deploy items of generation ${generation} for the first time`
  if (generation > observedGeneration)
    return `all deploy items with generation ${generation}: the last job used generation ${observedGeneration}`
  const items = total > COUNTED_ITEMS ? `all deploy items, more than ${COUNTED_ITEMS},` : `all ${total} deploy items`
  return `${total === 1 ? 'its deploy item' : items} again with generation ${generation}`
}

function changed({ generation, observedGeneration }: Generations, { total, unsuccessful }: Items): string {
  const since = generation > observedGeneration ? ` since generation ${observedGeneration}` : ''
  const ofAll = total > COUNTED_ITEMS ? '' : ` of ${total}`
  const least = unsuccessful === 0 ? '' : `, at least ${unsuccessful}${ofAll} deploy items,`
  return `what has changed${since} or has not succeeded${least} with generation ${generation}`
}
