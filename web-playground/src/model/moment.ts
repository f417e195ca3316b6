import type { PhaseChange } from 'phaseline/client'
import { duration } from './words.ts'

/** What happened, by whom and why, in one line. */
export function sentenceOf(change: PhaseChange): string {
  const { name, from, to, rejected } = change
  return `${rejected ? 'refused: ' : ''}${name} ${from ? `${from} → ` : ''}${to} by ${whoOf(change)}${whyOf(change)}`
}
export const whoOf = ({ actor, by }: PhaseChange): string => (by ? `${actor} ${by}` : actor)
const whyOf = ({ reason, message }: PhaseChange): string => {
  const why = message ?? reason
  return why ? ` (${why})` : ''
}

/** As long as it took, told more exactly the shorter it was. */
export function exactly(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : duration(ms)
}
