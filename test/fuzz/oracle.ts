/** Internals of the server that no answer may contain. */
const INTERNALS =
  /INTERNAL_SERVER_ERROR|Something went wrong|Cannot read propert|is not a function|is not iterable|Maximum call stack|Invalid array length|Invalid string length|node_modules|node:internal|\/src\/|\.ts:\d+|\bat (async )?[\w.]+ \(|syntax error at or near|violates|duplicate key|PrismaClient|ECONNRE|deadlock detected|canceling statement/

export interface Answer {
  /** Status of HTTP, or the code with which a socket was closed; absent: neither. */
  readonly status?: number
  readonly text: string
}

/** The defect of an answer; null: none. */
export function defectIn({ status, text }: Answer): string | null {
  if (status !== undefined && (status === 1011 || status === 4500 || (status >= 500 && status < 600)))
    return `the status is ${status}: ${text.slice(0, 500)}`
  const internal = INTERNALS.exec(text)
  return internal
    ? `the answer tells internals, ${internal[0]}: ${text.slice(Math.max(0, internal.index - 200), internal.index + 300)}`
    : null
}
