import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Output, printJson, printLine } from '../terminal/io.ts'
import { plain } from '../terminal/text.ts'

/** A typed error of a mutation, or of this program's own judging of its input. */
export interface Refusal {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly fields?: readonly { readonly path: string; readonly message: string }[]
  readonly object?: { readonly id: string; readonly kind: string; readonly name: string; readonly phase: string } | null
  readonly allowed?: readonly string[]
}

/** Spread as `...Refusal` in the selection of any result union, whichever of the errors it can be. */
export const REFUSAL_FRAGMENT = `fragment Refusal on Error {
  __typename
  code
  message
  ... on InvalidInputError { fields { path message } }
  ... on ConflictError { object { id kind name phase } }
  ... on TransitionError { allowed }
}`

/** The answer of a mutation: what it returns, or one of the typed errors. Null only beside a top-level error. */
export type Answer<T> =
  | (T & { readonly __typename: string })
  | (Omit<Refusal, 'type'> & { readonly __typename: string })
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }

export const refused = (refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } => ({ ok: false, refusal })

/** Tells a result from a typed error. Only errors have both a code and a message. */
export function outcomeOf<T extends object>(answer: Answer<T> | null): Outcome<T> {
  if (answer === null) {
    return refused(notFoundRefusal('The server answered with nothing.'))
  }
  if (isRefusal(answer)) {
    const { __typename: type, ...rest } = answer
    return refused({ type, ...rest })
  }
  return { ok: true, value: answer as T }
}

function isRefusal<T extends object>(answer: Answer<T>): answer is Omit<Refusal, 'type'> & { __typename: string } {
  return 'code' in answer && 'message' in answer && answer.__typename.endsWith('Error')
}

export const invalid = (message: string, fields: NonNullable<Refusal['fields']> = []): Refusal => ({
  type: 'InvalidInputError',
  code: 'INVALID_INPUT',
  message,
  fields,
})

export const notFoundRefusal = (message: string): Refusal => ({ type: 'NotFoundError', code: 'NOT_FOUND', message })

export const exitCodeOf = (refusal: Refusal): ExitCode => (refusal.code === 'INVALID_INPUT' ? EXIT.usage : EXIT.refused)

/** As people read it: code and message, then one line for each field, the object in the way, and what is allowed. */
export function describeRefusal(refusal: Refusal): string[] {
  const { code, message, object, allowed } = refusal
  // The message may say what is wrong with the first field already.
  const fields = (refusal.fields ?? []).filter((field) => !message.includes(`${field.path}: ${field.message}`))
  return [
    `${code}: ${plain(message)}`,
    ...fields.map((field) => `  ${plain(field.path)}: ${plain(field.message)}`),
    ...(object ? [`  in the way: ${words(object)}`] : []),
    ...(allowed?.length ? [`  allowed from here: ${allowed.join(', ')}`] : []),
  ]
}

const words = ({ kind, name, phase, id }: NonNullable<Refusal['object']>): string =>
  `${kind} ${plain(name)} (${phase}, id ${id})`

/** Prints it, as one JSON document on `out` or as text on `err`, and gives the exit code. */
export function printRefusal(refusal: Refusal, json: boolean, out: Output, err: Output): ExitCode {
  if (json) printJson(out, { error: refusal })
  else for (const line of describeRefusal(refusal)) printLine(err, line)
  return exitCodeOf(refusal)
}
