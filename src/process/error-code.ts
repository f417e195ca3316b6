/** The code of a system error alone: its message may quote secrets. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
