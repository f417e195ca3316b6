/**
 * Runs something whose errors tell of the caller's text and not of a place in the program. A stack that nobody has read holds
 * all that its functions worked on: kept errors kept the parser and the context of the validation with them.
 */
export function withoutStacks<T>(act: () => T): T {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return act()
  } finally {
    Error.stackTraceLimit = before
  }
}
