import {
  CLASS_LABELS,
  CLASS_SYMBOLS,
  type ClassCounts,
  PHASE_CLASSES,
  type PhaseClass,
} from '../../client-model/index.ts'
import type { Style } from '../terminal/paint.ts'

const STYLES: Readonly<Record<PhaseClass, Style>> = {
  FAILED: 'red',
  STOPPED: 'yellow',
  UNDOING: 'magenta',
  ACTIVE: 'cyan',
  REMOVING: 'magenta',
  WAITING: 'dim',
  DONE: 'green',
  SKIPPED: 'dim',
}
/** The mark of a phase. */
export interface Mark {
  readonly symbol: string
  readonly style: Style
}
export const markOf = (phaseClass: PhaseClass): Mark => ({
  symbol: CLASS_SYMBOLS[phaseClass],
  style: STYLES[phaseClass],
})

/** A phase with its class, as the API returns both. */
export interface ShownPhase {
  readonly phase: string
  readonly phaseClass: PhaseClass
}

/** e.g. `✓ SUCCEEDED`. */
export const markedPhase = ({ phase, phaseClass }: ShownPhase): string => `${CLASS_SYMBOLS[phaseClass]} ${phase}`

/** e.g. `3 ✓ done, 2 ○ waiting`; classes without objects are omitted. */
export const describeCounts = (counts: ClassCounts): string =>
  PHASE_CLASSES.filter((name) => counts[name] > 0)
    .map((name) => `${counts[name]} ${CLASS_SYMBOLS[name]} ${CLASS_LABELS[name]}`)
    .join(', ')
