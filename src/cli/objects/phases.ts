import type { Style } from '../terminal/paint.ts'

/** What a phase means to somebody who watches, whatever the kind. */
export type PhaseClass = 'done' | 'skipped' | 'failed' | 'stopped' | 'removing' | 'undoing' | 'active' | 'waiting'

const CLASSES: Readonly<Record<string, PhaseClass>> = {
  SUCCEEDED: 'done',
  DONE: 'done',
  READY: 'done',
  DELETED: 'done',
  SKIPPED: 'skipped',
  FAILED: 'failed',
  DELETE_FAILED: 'failed',
  UNDO_FAILED: 'failed',
  SCHEDULING_FAILED: 'failed',
  TIMED_OUT: 'failed',
  CREATE_ERROR: 'failed',
  UPDATE_ERROR: 'failed',
  DELETE_ERROR: 'failed',
  ABORTED: 'stopped',
  CANCELED: 'stopped',
  INIT_DELETE: 'removing',
  TRIGGER_DELETE: 'removing',
  DELETING: 'removing',
  DELETE_PREPARE: 'removing',
  DELETE_REQUESTED: 'removing',
  UNDOING: 'undoing',
  ABORTING: 'undoing',
  PENDING: 'waiting',
  PENDING_DEPENDENCIES: 'waiting',
  WAITING: 'waiting',
  CREATE_REQUESTED: 'waiting',
  UPDATE_REQUESTED: 'waiting',
  OFFLINE: 'waiting',
  NOT_PRESENT: 'waiting',
}

/** A phase that this version does not know counts as active: it is shown by name all the same. */
export const classOf = (phase: string): PhaseClass => CLASSES[phase] ?? 'active'

/** One column wide, and told apart without any colour. */
export const SYMBOLS: Readonly<
  Record<PhaseClass, { readonly symbol: string; readonly style: Style; readonly word: string }>
> = {
  failed: { symbol: '✗', style: 'red', word: 'failed' },
  stopped: { symbol: '■', style: 'yellow', word: 'stopped' },
  active: { symbol: '▶', style: 'cyan', word: 'active' },
  undoing: { symbol: '↺', style: 'magenta', word: 'undoing' },
  removing: { symbol: '−', style: 'magenta', word: 'being removed' },
  waiting: { symbol: '○', style: 'dim', word: 'waiting' },
  done: { symbol: '✓', style: 'green', word: 'done' },
  skipped: { symbol: '»', style: 'dim', word: 'skipped' },
}

/** The order in which classes deserve a line when there is no room for all. */
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

export type Counts = Readonly<Record<PhaseClass, number>>

/** e.g. `3 ✓ done, 2 ○ waiting`: what there is none of is left out. */
export const describeCounts = (counts: Counts): string =>
  PHASE_CLASSES.filter((name) => counts[name] > 0)
    .map((name) => `${counts[name]} ${SYMBOLS[name].symbol} ${SYMBOLS[name].word}`)
    .join(', ')
