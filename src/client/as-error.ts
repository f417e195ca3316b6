/** Converts a thrown value, which may be anything, to an error with a readable name, message and stack. */
export function asError(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(String(thrown))
    const { name, message, stack } = thrown
    if ([name, message, stack ?? ''].every((text) => typeof text === 'string')) return thrown
  } catch {
    // A getter, or a conversion to text, throws itself.
  }
  return new Error('Something was thrown that cannot be read.')
}
