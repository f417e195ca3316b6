import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Output, printJson, printLine } from '../terminal/io.ts'

/** An error of a mutation's result, or of this program's own validation. */
export interface Refusal {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly fields?: readonly { readonly path: string; readonly message: string }[] | undefined
  readonly object?:
    | { readonly id: string; readonly kind: string; readonly name: string; readonly phase: string }
    | null
    | undefined
  readonly allowed?: readonly string[] | undefined
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
export interface Member {
  readonly __typename: string
}
type ErrorMember = Omit<Refusal, 'type'> & { readonly __typename: `${string}Error` }
/** The members that are no errors. */
export type Payload<T extends Member> = Exclude<T, { readonly __typename: `${string}Error` }>
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }

export const refused = (refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } => ({ ok: false, refusal })

/** Separates payload and error of a result. A result is null only together with a top-level error. */
export function outcomeOf<T extends Member>(result: T | null): Outcome<Payload<T>> {
  if (result === null) return refused(notFoundRefusal('The server answered without a result.'))
  if (isError(result)) {
    const { __typename: type, ...rest } = result
    return refused({ type, ...rest })
  }
  return { ok: true, value: result as Payload<T> }
}

const isError = (result: Member): result is ErrorMember =>
  'code' in result && 'message' in result && result.__typename.endsWith('Error')

export const invalid = (message: string, fields: NonNullable<Refusal['fields']> = []): Refusal => ({
  type: 'InvalidInputError',
  code: 'INVALID_INPUT',
  message,
  fields,
})

export const notFoundRefusal = (message: string): Refusal => ({ type: 'NotFoundError', code: 'NOT_FOUND', message })

export const exitCodeOf = (refusal: Refusal): ExitCode => (refusal.code === 'INVALID_INPUT' ? EXIT.usage : EXIT.refused)

/** For people: code and message, then one line for each field, the conflicting object, and the allowed phases. */
export function describeRefusal(refusal: Refusal): string[] {
  const { code, message, object, allowed } = refusal
  // The message may repeat the first field's.
  const fields = (refusal.fields ?? []).filter((field) => !message.includes(`${field.path}: ${field.message}`))
  return [
    `${code}: ${message}`,
    ...fields.map((field) => `  ${field.path}: ${field.message}`),
    ...(object ? [`  in the way: ${words(object)}`] : []),
    ...(allowed?.length ? [`  allowed from here: ${allowed.join(', ')}`] : []),
  ]
}

const words = ({ kind, name, phase, id }: NonNullable<Refusal['object']>): string =>
  `${kind} ${name} (${phase}, id ${id})`

/** Prints a refusal, as one JSON document on `out` or as text on `err`, and returns the exit code. */
export function printRefusal(refusal: Refusal, json: boolean, out: Output, err: Output): ExitCode {
  if (json) printJson(out, { error: refusal })
  else for (const line of describeRefusal(refusal)) printLine(err, line)
  return exitCodeOf(refusal)
}
