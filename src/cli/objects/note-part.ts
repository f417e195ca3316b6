import type { Further } from '../../client-model/index.ts'
import type { Session } from '../session.ts'

/** Remarks that only the newest entries of a log were printed, and how to see the rest. */
export function notePart(session: Session, shown: number, { count, isAll }: Further, noun: string): void {
  const all = shown + count
  if (isAll && count === 0) return
  const of = `${isAll ? '' : 'more than '}${all.toLocaleString('en')}`
  const how = isAll ? `--limit ${all} prints all of them` : '--limit prints more of them'
  session.note(`${shown.toLocaleString('en')} of ${of} ${noun}, the newest: ${how}.`)
}
