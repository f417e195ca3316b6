import type { PhaseClass } from '../core/machine.ts'

/** The symbol of a class: one column wide, and distinguishable without colours. */
export const CLASS_SYMBOLS: Readonly<Record<PhaseClass, string>> = {
  FAILED: '✗',
  STOPPED: '■',
  UNDOING: '↺',
  ACTIVE: '▶',
  REMOVING: '−',
  WAITING: '○',
  DONE: '✓',
  SKIPPED: '»',
}
export const CLASS_LABELS: Readonly<Record<PhaseClass, string>> = {
  FAILED: 'failed',
  STOPPED: 'stopped',
  UNDOING: 'undoing',
  ACTIVE: 'active',
  REMOVING: 'being removed',
  WAITING: 'waiting',
  DONE: 'done',
  SKIPPED: 'skipped',
}

/** The number of objects in phases of each class. */
export type ClassCounts = Readonly<Record<PhaseClass, number>>

export function countClasses(classes: Iterable<PhaseClass>): ClassCounts {
  const counts = { FAILED: 0, STOPPED: 0, UNDOING: 0, ACTIVE: 0, REMOVING: 0, WAITING: 0, DONE: 0, SKIPPED: 0 }
  for (const phaseClass of classes) counts[phaseClass] += 1
  return counts
}
