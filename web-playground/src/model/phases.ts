/** Meaning of a phase for people. The server says which phase has which class. */
export type PhaseClass = 'failed' | 'stopped' | 'undoing' | 'active' | 'removing' | 'waiting' | 'done' | 'skipped'

/** Classes in the order in which they need attention. */
export const PHASE_CLASSES = [
  'failed',
  'stopped',
  'undoing',
  'active',
  'removing',
  'waiting',
  'done',
  'skipped',
] as const satisfies readonly PhaseClass[]

/** Symbols are distinguishable without colours. */
export const SYMBOLS: Readonly<Record<PhaseClass, string>> = {
  failed: '✗',
  stopped: '■',
  undoing: '↺',
  active: '▶',
  removing: '−',
  waiting: '○',
  done: '✓',
  skipped: '»',
}
export const WORDS: Readonly<Record<PhaseClass, string>> = {
  failed: 'failed',
  stopped: 'stopped',
  undoing: 'undoing',
  active: 'active',
  removing: 'being removed',
  waiting: 'waiting',
  done: 'done',
  skipped: 'skipped',
}

export type ClassCounts = Readonly<Record<PhaseClass, number>>
export const NO_COUNTS: ClassCounts = {
  failed: 0,
  stopped: 0,
  undoing: 0,
  active: 0,
  removing: 0,
  waiting: 0,
  done: 0,
  skipped: 0,
}
