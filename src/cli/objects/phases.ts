import { PHASE_CLASSES, type PhaseClass } from '../../core/machine.ts'
import type { Style } from '../terminal/paint.ts'

/** The symbol of a class: one column wide, and distinguishable without colours. */
export const SYMBOLS: Readonly<
  Record<PhaseClass, { readonly symbol: string; readonly style: Style; readonly word: string }>
> = {
  FAILED: { symbol: '✗', style: 'red', word: 'failed' },
  STOPPED: { symbol: '■', style: 'yellow', word: 'stopped' },
  ACTIVE: { symbol: '▶', style: 'cyan', word: 'active' },
  UNDOING: { symbol: '↺', style: 'magenta', word: 'undoing' },
  REMOVING: { symbol: '−', style: 'magenta', word: 'being removed' },
  WAITING: { symbol: '○', style: 'dim', word: 'waiting' },
  DONE: { symbol: '✓', style: 'green', word: 'done' },
  SKIPPED: { symbol: '»', style: 'dim', word: 'skipped' },
}

/** The last change of an object leads to GONE, which no object is in. */
const GONE = { symbol: '∅', style: 'dim' } as const

/** The mark of a change to the phase. */
export const markOf = (phase: string, phaseClass: PhaseClass): { readonly symbol: string; readonly style: Style } =>
  phase === 'GONE' ? GONE : SYMBOLS[phaseClass]

/** A phase with its class, as the API returns both. */
export interface ShownPhase {
  readonly phase: string
  readonly phaseClass: PhaseClass
}

/** e.g. `✓ SUCCEEDED`. */
export const markedPhase = ({ phase, phaseClass }: ShownPhase): string => `${SYMBOLS[phaseClass].symbol} ${phase}`

export type Counts = Readonly<Record<PhaseClass, number>>
export const noCounts = (): Record<PhaseClass, number> => ({
  FAILED: 0,
  STOPPED: 0,
  UNDOING: 0,
  ACTIVE: 0,
  REMOVING: 0,
  WAITING: 0,
  DONE: 0,
  SKIPPED: 0,
})

/** e.g. `3 ✓ done, 2 ○ waiting`; classes without objects are omitted. */
export const describeCounts = (counts: Counts): string =>
  PHASE_CLASSES.filter((name) => counts[name] > 0)
    .map((name) => `${counts[name]} ${SYMBOLS[name].symbol} ${SYMBOLS[name].word}`)
    .join(', ')
