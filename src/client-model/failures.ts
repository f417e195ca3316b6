/** The fields of an error that `failureText` and `causeText` read. */
export const FAILURE_FIELDS = 'code message rootCause { objectId name code message object { path } }'

interface RootCause {
  readonly name: string
  readonly code: string
  readonly message: string
  readonly object: { readonly path: string } | null
}

/** The object that failed by itself, and why, such as `shop/deploy-items/db: EXIT_CODE: It ended with 3.` */
export const causeText = ({ name, code, message, object }: RootCause): string =>
  `${object?.path ?? name}: ${code}: ${message}`

/** Why no other attempt follows one that failed, although its policy allows more; null: another one does, or none is left. */
export function finalText({
  finalBy,
  error,
}: {
  readonly finalBy: 'AGENT' | 'POLICY' | null
  readonly error: { readonly code: string } | null
}): string | null {
  if (finalBy === null) return null
  return finalBy === 'AGENT' ? 'final (its agent said so)' : `final (its policy does not retry ${error?.code})`
}

/** Why something failed, in one line: by what failed by itself below it, if anything did. */
export const failureText = ({
  message,
  rootCause,
}: {
  readonly message: string
  readonly rootCause: RootCause | null
}): string => (rootCause ? causeText(rootCause) : message)
