import type { Refusal } from '../errors.ts'
import type { ObjectRow } from '../tree.ts'

/** The result of a command, or one of the refusals that it can end in. */
export type Outcome<T, R extends Refusal = Refusal> = ({ readonly ok: true } & T) | Refused<R>
export interface Refused<R extends Refusal = Refusal> {
  readonly ok: false
  readonly refusal: R
}

/** An object that a command has written. */
export interface WrittenObject {
  readonly objectId: string
  /** Present when the command knows the whole row, so that showing it needs no read. */
  readonly object?: { readonly row: ObjectRow }
}

/** The types of refusals that each request can end in: the caller lacks a right, or an input exceeds a bound. */
export type CommonRefusal = 'ForbiddenError' | 'InvalidInputError'

/** The types of the other refusals that a command, or its outcome, can end in. */
export type OwnRefusalsOf<Command> = Exclude<RefusalTypesOf<Command>, CommonRefusal>

/** The types of the refusals that a command, or its outcome, can end in. */
export type RefusalTypesOf<Command> = Command extends (...args: never[]) => infer Result
  ? RefusalTypesOf<Awaited<Result>>
  : Command extends Promise<infer Result>
    ? RefusalTypesOf<Result>
    : Command extends Refused<infer R>
      ? R['type']
      : never
