/** Where a command's text goes. `process.stdout` is one; tests pass their own. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** Where a command's input comes from. `process.stdin` is one; a terminal can be told to show nothing of what is typed. */
export interface Input extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean | undefined
  setRawMode?(on: boolean): unknown
}

/** Everything a command knows of the process it runs in. */
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
