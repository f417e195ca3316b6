import { escapeHidden } from '../../core/hidden-text.ts'
import { cleanLine, raw } from './clean.ts'

/** The output of a command. `process.stdout` is one; tests pass their own. Only this file writes to it. */
export interface Output {
  write(text: string | Uint8Array): unknown
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

/** One line for people. Line breaks within it become blanks, so that no text from elsewhere begins a line. */
export const printLine = (out: Output, text: string): void => print(out, `${cleanLine(text)}\n`)

/** A part of a line, such as a question that is answered in it. */
export const printPart = (out: Output, text: string): void => print(out, cleanLine(text))

/** Lines for people whose breaks are this program's own. */
export const printText = (out: Output, text: string): void => print(out, text.split('\n').map(cleanLine).join('\n'))

function print(out: Output, clean: string): void {
  out.write(raw(clean))
}

/** One JSON document, or one line of NDJSON. Hidden characters are escaped, which changes no value. */
export const printJson = (out: Output, value: unknown): void => {
  out.write(`${escapeHidden(JSON.stringify(value))}\n`)
}

/** Content as it is: only where the user asks for it. */
export const printBytes = (out: Output, bytes: Uint8Array): void => {
  out.write(bytes)
}

/** One YAML document. Its writer has escaped hidden characters, and each blank and line break of it counts. */
export const printDocument = (out: Output, yaml: string): void => {
  out.write(`---\n${yaml}`)
}

/** Prints YAML documents. Its library is loaded only then. */
export async function yamlPrinter(out: Output): Promise<(value: unknown) => void> {
  const { writeYaml } = await import('../../manifest/write-yaml.ts')
  return (value) => printDocument(out, writeYaml(value))
}
