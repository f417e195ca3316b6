/** The reason why a request failed: an error of a mutation's result, or of the client's own validation. */
export interface Refusal {
  /** Its type in the schema; an error without an answer has none. */
  readonly type?: string
  readonly code: string
  readonly message: string
  /** By their paths in the input, e.g. `input.spec.deployItems.2.dependsOn.0`. */
  readonly fields?: readonly FieldProblem[] | undefined
  /** The object in conflict. */
  readonly object?: ObjectInTheWay | null | undefined
  readonly allowed?: readonly string[] | undefined
}
export interface FieldProblem {
  readonly path: string
  readonly message: string
}
interface ObjectInTheWay {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly phase: string
  readonly root?: { readonly id: string } | undefined
}

/** Spread as `...Refusal` in the selection of any result union. */
export const REFUSAL_FRAGMENT = `fragment Refusal on Error {
  __typename
  code
  message
  ... on InvalidInputError { fields { path message } }
  ... on ConflictError { object { id kind name phase } }
  ... on TransitionError { allowed }
}`

/** A member of a mutation's result union. */
export interface ResultMember {
  readonly __typename: string
}
type ErrorMember = Omit<Refusal, 'type'> & { readonly __typename: `${string}Error` }
/** The members that are no errors. */
export type SuccessMember<T extends ResultMember> = Exclude<T, { readonly __typename: `${string}Error` }>
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal; readonly value?: never }

export const refused = (refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } => ({ ok: false, refusal })

/** Separates payload and error of a result. A result is null only together with a top-level error. */
export function outcomeOf<T extends ResultMember>(result: T | null): Outcome<SuccessMember<T>> {
  if (result === null) return refused(notFoundRefusal('The server answered without a result.'))
  if (isError(result)) {
    const { __typename: type, ...rest } = result
    return refused({ type, ...rest })
  }
  return { ok: true, value: result as SuccessMember<T> }
}

const isError = (result: ResultMember): result is ErrorMember =>
  'code' in result && 'message' in result && result.__typename.endsWith('Error')

export const invalid = (message: string, fields: NonNullable<Refusal['fields']> = []): Refusal => ({
  type: 'InvalidInputError',
  code: 'INVALID_INPUT',
  message,
  fields,
})

export const notFoundRefusal = (message: string): Refusal => ({ type: 'NotFoundError', code: 'NOT_FOUND', message })
