/** What a phase means to somebody who watches, whatever the kind. The command line tells them apart in the same way. */
export type PhaseClass = 'failed' | 'stopped' | 'undoing' | 'active' | 'removing' | 'waiting' | 'done' | 'skipped'

/** What deserves attention first. */
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

const PHASES_OF: Readonly<Record<Exclude<PhaseClass, 'active'>, readonly string[]>> = {
  failed: [
    'FAILED',
    'DELETE_FAILED',
    'UNDO_FAILED',
    'SCHEDULING_FAILED',
    'TIMED_OUT',
    'CREATE_ERROR',
    'UPDATE_ERROR',
    'DELETE_ERROR',
  ],
  stopped: ['ABORTED', 'CANCELED'],
  undoing: ['UNDOING', 'ABORTING'],
  removing: ['INIT_DELETE', 'TRIGGER_DELETE', 'DELETING', 'DELETE_PREPARE', 'DELETE_REQUESTED'],
  waiting: [
    'PENDING',
    'PENDING_DEPENDENCIES',
    'WAITING',
    'CREATE_REQUESTED',
    'UPDATE_REQUESTED',
    'OFFLINE',
    'NOT_PRESENT',
  ],
  done: ['SUCCEEDED', 'DONE', 'READY', 'DELETED'],
  skipped: ['SKIPPED'],
}
const CLASSES: ReadonlyMap<string, PhaseClass> = new Map(
  Object.entries(PHASES_OF).flatMap(([name, phases]) => phases.map((phase) => [phase, name as PhaseClass] as const)),
)

export const FAILED_PHASES: readonly string[] = PHASES_OF.failed

/** A phase that this version does not know counts as active: it is shown by name all the same. */
export const classOf = (phase: string): PhaseClass => CLASSES.get(phase) ?? 'active'

/** Told apart without any colour. */
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

export function countClasses(phases: Iterable<string>): ClassCounts {
  const counts = { ...NO_COUNTS }
  for (const phase of phases) counts[classOf(phase)] += 1
  return counts
}
