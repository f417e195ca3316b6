import type { Actor, ObjectKind, Phase, RefusalCode } from './vocabulary.ts'
import { articled, words } from './words.ts'

/** Why a command refuses a request: an expected outcome, which is returned and never thrown across layers. */
export type Refusal =
  | { readonly type: 'InvalidInputError'; readonly message: string; readonly fields: readonly FieldProblem[] }
  | { readonly type: 'NotFoundError'; readonly message: string; readonly objectId: string | null }
  | { readonly type: 'ForbiddenError'; readonly message: string }
  | {
      readonly type: 'ConflictError'
      readonly code: Extract<
        RefusalCode,
        | 'ALREADY_EXISTS'
        | 'GENERATION_MISMATCH'
        | 'REVISION_MISMATCH'
        | 'BUSY'
        | 'IN_USE'
        | 'NOT_READY'
        | 'CLOUDLET_UPGRADING'
        | 'CLOUDLET_UPGRADE_FAILED'
        | 'PAUSED'
      >
      readonly message: string
      /** The conflicting object; null when the viewer may not read it. */
      readonly objectId: string | null
    }
  | {
      readonly type: 'TransitionError'
      readonly message: string
      readonly kind: ObjectKind
      readonly from: Phase
      readonly to: Phase
      readonly actor: Actor
      readonly allowed: readonly Phase[]
    }
  | { readonly type: 'StaleReportError'; readonly message: string }
  | { readonly type: 'LimitError'; readonly message: string; readonly limit: number }

export type RefusalType = Refusal['type']
export type RefusalOf<Type extends RefusalType> = Extract<Refusal, { readonly type: Type }>

const CODES: Readonly<Record<Exclude<RefusalType, 'ConflictError'>, RefusalCode>> = {
  InvalidInputError: 'INVALID_INPUT',
  NotFoundError: 'NOT_FOUND',
  ForbiddenError: 'FORBIDDEN',
  TransitionError: 'TRANSITION',
  StaleReportError: 'STALE_REPORT',
  LimitError: 'LIMIT',
}
export const codeOf = (refusal: Refusal): RefusalCode =>
  refusal.type === 'ConflictError' ? refusal.code : CODES[refusal.type]

export interface FieldProblem {
  /** Path in the input, e.g. `input.spec.deployItems.2.dependsOn.0`. */
  readonly path: string
  readonly message: string
}

/** The message of a refusal names all fields, for clients that show no more. */
export const inOneLine = (fields: readonly FieldProblem[]): string =>
  fields.map(({ path, message }) => `${path}: ${message}`).join('; ')

export const invalidInput = (fields: readonly FieldProblem[]): RefusalOf<'InvalidInputError'> => ({
  type: 'InvalidInputError',
  message: inOneLine(fields) || 'The input is not valid.',
  fields,
})
/** @param name by which it was looked for, if it has no id */
export function notFound(objectId: string, what?: string): RefusalOf<'NotFoundError'>
export function notFound(objectId: null, what: string, name: string): RefusalOf<'NotFoundError'>
export function notFound(objectId: string | null, what = 'object', name = objectId): RefusalOf<'NotFoundError'> {
  return { type: 'NotFoundError', message: `There is no ${what} ${name} that you may read.`, objectId }
}
export const forbidden = (message: string): RefusalOf<'ForbiddenError'> => ({ type: 'ForbiddenError', message })
/** @param objectId null: it is no object of a tree */
export const generationMismatch = (
  generation: number,
  expected: number,
  objectId: string | null = null,
): RefusalOf<'ConflictError'> => ({
  type: 'ConflictError',
  code: 'GENERATION_MISMATCH',
  message: `It is at generation ${generation}, not ${expected}: read it again.`,
  objectId,
})
export const revisionMismatch = (message: string, objectId: string | null): RefusalOf<'ConflictError'> => ({
  type: 'ConflictError',
  code: 'REVISION_MISMATCH',
  message: `${message}: read it again.`,
  objectId,
})
export const stale = (message: string): RefusalOf<'StaleReportError'> => ({ type: 'StaleReportError', message })
export const transitionRefused = (
  kind: ObjectKind,
  from: Phase,
  actor: Actor,
  to: Phase,
  allowed: readonly Phase[],
): RefusalOf<'TransitionError'> => ({
  type: 'TransitionError',
  message: `${actor} may not move ${articled(words(kind))} from ${from} to ${to}${
    allowed.length ? `; from here it may move it to ${allowed.join(', ')}` : '; from here it may not move it at all'
  }.`,
  kind,
  from,
  to,
  actor,
  allowed,
})

/** An error of an object, as stored and shown: why it did not reach the phase that was wanted. */
export interface ObjectFailure {
  readonly code: string
  readonly message: string
  readonly at: string
  readonly causeCount: number
  readonly causes: readonly FailureCause[]
}
export interface FailureCause {
  readonly objectId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly code: string
  readonly message: string
  /** The object below it that failed by itself; absent if it did so itself, or if an earlier version has written it. */
  readonly root?: FailureCause
}

/** The object that failed by itself, as it was then: the first of the causes, then the first of its own; null if there are none. */
export const rootCauseOf = ({ causes: [first] }: Pick<ObjectFailure, 'causes'>): FailureCause | null =>
  first?.root ?? first ?? null

export const objectFailure = (
  { now }: { readonly now: Date },
  code: string,
  message: string,
  causes: readonly FailureCause[] = [],
  causeCount = causes.length,
): ObjectFailure => ({ code, message, at: now.toISOString(), causeCount, causes })

interface FailedChild {
  readonly id: string
  readonly kind: ObjectKind
  readonly name: string
  readonly phase: Phase
  readonly error: Pick<ObjectFailure, 'code' | 'message' | 'causes'> | null
}
/** A cause keeps its own root, since its object may have run again by the time that somebody reads the failure. */
export const causeOf = ({ id, kind, name, phase, error }: FailedChild): FailureCause => {
  const root = error && rootCauseOf(error)
  return {
    objectId: id,
    kind,
    name,
    code: error?.code ?? phase,
    message: error?.message ?? `It is ${phase}.`,
    ...(root && { root }),
  }
}
