import type { Machine } from './machine.ts'
import { type Granted, hasRight, type Right, requirementOf } from './rights.ts'
import type { Verb } from './verb.ts'
import type { Actor, Phase } from './vocabulary.ts'

/** Why a verb would be refused: for want of a right, on a child, on an object that is being deleted, or in its present phase. */
export const OBSTACLES = ['RIGHT', 'NOT_ROOT', 'DELETION', 'PHASE'] as const
export type Obstacle = (typeof OBSTACLES)[number]

export interface JudgedVerb {
  readonly verb: Verb
  /** Null: the verb is allowed. */
  readonly refusal: {
    readonly obstacle: Obstacle
    readonly why: string
    /** True if a caller with the right could use the verb. */
    readonly fits: boolean
  } | null
}

export interface VerbSubject {
  readonly projectId: string
  readonly parentId: string | null
  readonly deletionRequestedAt: Date | null
  readonly finished: boolean
  /** It waits for its next attempt. */
  readonly inBackoff: boolean
  /** It waits at a gate for people. */
  readonly atGate: boolean
  /** The gate takes others than the caller. */
  readonly isAuthor: boolean
  /** Its tree is paused. */
  readonly paused: boolean
  /** The phase in the verb's machine; null if the machine does not apply now. */
  readonly phase: Phase | null
}

/** Judges a verb on an object for a caller, by the rights of its mutation and by the guard. */
export function judgeVerb(
  verb: Verb,
  subject: VerbSubject,
  caller: Granted,
  right: Right,
  machine: Machine,
): JudgedVerb {
  const { projectId } = subject
  // Few objects wait for an attempt, so for all others the verb is not worth a word about rights.
  if (verb.inBackoff && !subject.inBackoff)
    return { verb, refusal: { obstacle: 'PHASE', why: 'It does not wait for a next attempt.', fits: false } }
  if (verb.atGate && !subject.atGate)
    return { verb, refusal: { obstacle: 'PHASE', why: 'It waits for no approval.', fits: false } }
  if (verb.byOthers && subject.isAuthor) {
    const why = 'You have written the spec, or asked for this job: somebody else has to approve it.'
    return { verb, refusal: { obstacle: 'RIGHT', why, fits: judgeState(verb, subject, 'USER', machine) === null } }
  }
  if (hasRight(caller, right, projectId)) return { verb, refusal: judgeState(verb, subject, caller.actor, machine) }
  const why = `It takes ${requirementOf(right, projectId)}.`
  return { verb, refusal: { obstacle: 'RIGHT', why, fits: judgeState(verb, subject, 'USER', machine) === null } }
}

function judgeState(verb: Verb, subject: VerbSubject, actor: Actor, machine: Machine): JudgedVerb['refusal'] {
  const refuse = (obstacle: Obstacle, why: string) => ({ obstacle, why, fits: false })
  const { finished, phase } = subject
  if (verb.rootsOnly && subject.parentId !== null) {
    return refuse('NOT_ROOT', 'Ask for it on the root of the tree: it concerns the whole tree.')
  }
  if (subject.deletionRequestedAt !== null) {
    if (verb.whileDeleting === 'NEVER') return refuse('DELETION', 'Its deletion is requested.')
    if (verb.whileDeleting === 'ONCE_FINISHED' && !finished) return refuse('DELETION', 'It is being deleted already.')
  }
  if (verb.paused !== null && verb.paused !== subject.paused)
    return refuse('PHASE', subject.paused ? 'It is paused already.' : 'It is not paused.')
  if (verb.finished === false && finished) return refuse('PHASE', 'It has ended already.')
  if (verb.finished === true && !finished) return refuse('PHASE', 'It has not ended yet.')
  if (phase !== null && isPossible(verb, phase, actor, machine)) return null
  return refuse('PHASE', `It is ${phase ?? 'in no phase'}: only possible in ${verb.phases.join(', ')}.`)
}

function isPossible({ to, phases }: Verb, phase: Phase, actor: Actor, { transitions }: Machine): boolean {
  // The phases of a verb are those of the user: its other transitions to the same phase have verbs of their own.
  if ((to === null || actor === 'USER') && !phases.includes(phase)) return false
  if (to === null) return true
  return transitions.some((row) => row.actor === actor && row.from === phase && to.includes(row.to))
}
