/** What the process's exit code says. docs/cli.md documents the same list. */
export const EXIT = {
  ok: 0,
  /** The thing itself failed: its tree or event ended without success, or vanished. */
  failed: 1,
  /** Wrong usage, or input that is not valid. */
  usage: 2,
  /** The server refused: conflict, transition, forbidden, not found, limit. */
  refused: 3,
  /** No usable answer: cannot connect, not authorised, or the server failed. */
  unavailable: 4,
  /** A defect of this program. */
  bug: 70,
  /** By the user, who may also have said no. */
  interrupted: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The worst of several, for commands that handle several things. */
export const worst = (codes: readonly ExitCode[]): ExitCode => codes.toSorted((a, b) => b - a)[0] ?? EXIT.ok
