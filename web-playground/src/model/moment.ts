import type { PhaseChange } from 'phaseline/client'
import { isRequest } from './object.ts'
import { duration } from './words.ts'

/** A change in one line: its actor and reason. */
export function sentenceOf(change: PhaseChange): string {
  const { name, from, to, rejected } = change
  if (isRequest(change)) return `${name}: ${change.reason ?? ''} by ${whoOf(change)}`
  return `${rejected ? 'refused: ' : ''}${name} ${from ? `${from} → ` : ''}${to} by ${whoOf(change)}${whyOf(change)}`
}
export const whoOf = ({ actor, by }: Pick<PhaseChange, 'actor' | 'by'>): string => (by ? `${actor} ${by}` : actor)
const whyOf = ({ reason, message }: PhaseChange): string => {
  const why = message ?? reason
  return why ? ` (${why})` : ''
}

/** A duration, with more digits the shorter it is. */
export function exactly(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : duration(ms)
}
