/** Where a command's text goes. `process.stdout` is one; tests pass their own. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** Everything a command knows of the process it runs in. */
export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal
}

export const printLine = (out: Output, text: string): void => {
  out.write(`${text}\n`)
}

/** One JSON document, or one line of NDJSON. */
export const printJson = (out: Output, value: unknown): void => printLine(out, JSON.stringify(value))
