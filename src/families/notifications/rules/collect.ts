import { quietUntil } from '../../quiet-hours.ts'
import type { RuleSpec, Told, ToldChange } from './spec.ts'

/** Messages that wait: for more changes, or for the end of quiet hours. */

/** Most changes that a digest tells, and most characters of them as JSON; it counts the others. */
export const MAX_DIGEST = 100
export const MAX_DIGEST_LENGTH = 48 * 1_024

export type Digest = Extract<Told, { readonly type: 'DIGEST' }>

/** Adds changes to a digest, in their order. One that counts a change that it does not tell, tells none after it. */
export function collect(digest: Digest, more: readonly ToldChange[]): Digest {
  const changes = [...digest.changes]
  let isFull = digest.count > changes.length
  let length = JSON.stringify(changes).length
  for (const change of more) {
    length += JSON.stringify(change).length + 1
    isFull ||= changes.length >= MAX_DIGEST || length > MAX_DIGEST_LENGTH
    if (!isFull) changes.push(change)
  }
  const lastSequence = more.at(-1)?.sequence ?? digest.lastSequence
  return { type: 'DIGEST', changes, count: digest.count + more.length, lastSequence }
}

export const isUrgent = ({ urgent }: Pick<RuleSpec, 'urgent'>, { phaseClass }: ToldChange): boolean =>
  phaseClass !== null && (urgent?.includes(phaseClass) ?? false)

/** When a message may go that could go at a time, by quiet hours; null: then. */
export const waitsUntil = ({ quietHours }: Pick<RuleSpec, 'quietHours'>, time: Date): Date | null =>
  quietHours ? quietUntil(quietHours, time) : null

/** The same for a message that is to be sent: a test and what is urgent go at any time. */
export function heldUntil(spec: RuleSpec, told: Told, time: Date): Date | null {
  if (told.type === 'TEST') return null
  const changes = told.type === 'DIGEST' ? told.changes : told.type === 'CHANGE' ? [told.change] : []
  return changes.some((change) => isUrgent(spec, change)) ? null : waitsUntil(spec, time)
}
