/** Exit codes of the process. docs/cli.md documents the same list. */
export const EXIT = {
  ok: 0,
  /** The object itself failed: its tree or event ended without success, or vanished. */
  failed: 1,
  /** Wrong usage, or invalid input. */
  usage: 2,
  /** The server refused: conflict, transition, forbidden, not found, limit. */
  refused: 3,
  /** No usable answer: cannot connect, not authorised, or the server failed. */
  unavailable: 4,
  /** It is not finished, and resumes only when a person decides something. */
  undecided: 5,
  /** A defect of this program. */
  bug: 70,
  /** The user interrupted, or answered no. */
  interrupted: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The worst of several exit codes. */
export const worst = (codes: readonly ExitCode[]): ExitCode => codes.toSorted((a, b) => b - a)[0] ?? EXIT.ok
