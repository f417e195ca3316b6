/** The output of a command. `process.stdout` is one; tests pass their own. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** The input of a command. `process.stdin` is one; a terminal can hide what is typed. */
export interface Input extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean | undefined
  setRawMode?(on: boolean): unknown
}

/** The parts of the process that a command uses. */
export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin: Input
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal
}

export const printLine = (out: Output, text: string): void => {
  out.write(`${text}\n`)
}

/** One JSON document, or one line of NDJSON. */
export const printJson = (out: Output, value: unknown): void => printLine(out, JSON.stringify(value))
