import {
  ACTORS,
  BLOCKER_REASONS,
  ERROR_CODES,
  LOCK_MODES,
  OBJECT_KINDS,
  PHASES,
  type Phase,
  type ReconcileMode,
  WORK_ACTIONS,
} from '../core/vocabulary.ts'
import { builder } from './builder.ts'

const NOTES: Readonly<Partial<Record<Phase, string>>> = {
  GONE: 'Only as the `to` of a phase change: the object no longer exists.',
}
const phases = Object.fromEntries(PHASES.map((phase) => [phase, { description: NOTES[phase] }]))

export const ObjectKindEnum = builder.enumType('ObjectKind', { values: OBJECT_KINDS })
export const ActorEnum = builder.enumType('Actor', { values: ACTORS })
export const PhaseEnum = builder.enumType('Phase', {
  description: 'Every phase of every machine; `stateMachines(kind:)` says which belong to a kind.',
  values: phases as Record<Phase, { description?: string }>,
})
export const BlockerReasonEnum = builder.enumType('BlockerReason', { values: BLOCKER_REASONS })
export const ErrorCodeEnum = builder.enumType('ErrorCode', { values: ERROR_CODES })
export const WorkActionEnum = builder.enumType('WorkAction', {
  description:
    'RECONCILE, DELETE: deployers. START, STOP, REMOVE: runtimes. GET_LOCKS, RUN, UNDO, ABORT: gadget runners.',
  values: WORK_ACTIONS,
})
export const ReconcileModeEnum = builder.enumType('ReconcileMode', {
  description: 'How a job goes about a tree.',
  values: {
    STANDARD: { description: 'Every object runs again.' },
    IF_CHANGED: { description: 'What is unchanged since its last success, spec and imports, keeps its state.' },
    FORCE: {
      description:
        'Every object runs again, and neither a predecessor that has failed nor another root is waited for. What runs in this job is waited for, and imports must be satisfied. A deletion does not look for importers.',
    },
  } satisfies Record<ReconcileMode, { description: string }>,
})
export const LockModeEnum = builder.enumType('LockMode', { values: LOCK_MODES })
export const LogStreamEnum = builder.enumType('LogStream', { values: ['STDOUT', 'STDERR', 'STEP', 'SYSTEM'] as const })
