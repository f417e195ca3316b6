/**
 * Errors that are made meanwhile have no stack trace. For errors of a document, which point at places in the document and are
 * cached: until a stack trace is read, V8 keeps the objects whose methods it names, here the parser or the whole validation.
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
