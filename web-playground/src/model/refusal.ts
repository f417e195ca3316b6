/** Why a request failed: a typed error of the API, or no answer. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly fields: readonly FieldProblem[]
  /** The object in conflict. */
  readonly object: ObjectInTheWay | null
}
export interface FieldProblem {
  /** Path in the input, e.g. `input.spec.deployItems.2.dependsOn.0`. */
  readonly path: string
  readonly message: string
}
export interface ObjectInTheWay {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly phase: string
  readonly root: { readonly id: string }
}
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal; readonly value?: never }

/** A member of a mutation's result union. */
export interface Member {
  readonly __typename: string
}
/** The members that are no errors. */
export type Payload<T extends Member> = Exclude<T, { readonly __typename: `${string}Error` }>

/** Separates payload and error of a result. A result is null only together with a top-level error. */
export function outcomeOf<T extends Member>(result: T | null): Outcome<Payload<T>> {
  if (result === null) return { ok: false, refusal: refusal('NOT_FOUND', 'The server answered without a result.') }
  if (result.__typename.endsWith('Error'))
    return {
      ok: false,
      refusal: { fields: [], object: null, ...(result as Member as Member & Pick<Refusal, 'code' | 'message'>) },
    }
  return { ok: true, value: result as Payload<T> }
}

export const refusal = (code: string, message: string): Refusal => ({ code, message, fields: [], object: null })

const ADVICE: Readonly<Record<string, string>> = {
  ALREADY_EXISTS: 'Choose another name, or look at the one that is there.',
  GENERATION_MISMATCH: 'Somebody has changed it meanwhile: look at the preview again, then update.',
  BUSY: 'Try again when it is done.',
  NOT_READY: 'Try again when it is READY.',
  FORBIDDEN: 'Sign out, and use a token that may: an administrator makes them.',
  NOT_FOUND: 'It was deleted meanwhile: choose another one.',
  NO_ANSWER: 'It is not known whether it was done. Press again: nothing is created twice.',
}
/** The remedy; null where the message has it. */
export const adviceFor = ({ code }: Refusal): string | null => ADVICE[code] ?? null

/** The problem of a field, or of its parts. */
export const problemOf = (refused: Refusal | null, field: string): string | null =>
  (refused?.fields ?? [])
    .filter(({ path }) => path === field || path.startsWith(`${field}.`))
    .map(({ message }) => message)
    .join('; ') || null

/** Problems that belong to no field of the form. */
export const problemsOutside = (refused: Refusal, fields: readonly string[]): readonly FieldProblem[] =>
  refused.fields.filter(({ path }) => !fields.some((field) => path === field || path.startsWith(`${field}.`)))
