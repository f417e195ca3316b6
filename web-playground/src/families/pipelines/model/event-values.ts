import { type Pair, pairProblems, pairsInput } from '../../../model/pairs.ts'

/** An event as its form has it. */
export interface EventValues {
  /** Empty: every project that has subscribed to the event. */
  readonly project: string
  readonly source: string
  readonly type: string
  readonly qualifiers: readonly Pair[]
  readonly labels: readonly Pair[]
  readonly payload: string
}

/** The first missing input; null: none. */
export function missingIn({ source, type, qualifiers, labels }: EventValues): string | null {
  if (source.trim() === '') return 'Say where it comes from.'
  if (type.trim() === '') return 'Say what has happened.'
  if (pairProblems(labels).some(Boolean)) return 'Fix the labels.'
  return pairProblems(qualifiers).some(Boolean) ? 'Fix the qualifiers.' : null
}

/** CreateEventInput of the form; the payload is sent unchanged. */
export function eventInput({ project, source, type, qualifiers, labels, payload }: EventValues): object {
  return {
    source: source.trim(),
    type: type.trim(),
    ...(project === '' ? {} : { project }),
    qualifiers: pairsInput(qualifiers),
    labels: pairsInput(labels),
    ...(payload === '' ? {} : { payload }),
  }
}
