import { invalid, type Outcome, refused } from '../../client-model/index.ts'
import { describeProblem, readDocument, type WantedDocument } from '../../manifest/index.ts'
import type { Io } from '../terminal/io.ts'
import { readInput } from '../terminal/read-input.ts'
import { type Source, shownFile } from './source.ts'

/** Reads the one YAML or JSON document of a file; problems have their place. */
export async function readOne<T>(io: Pick<Io, 'stdin'>, file: string, wanted: WantedDocument<T>): Promise<Outcome<T>> {
  const read = await readSourced(io, file, wanted)
  return read.ok ? { ok: true, value: read.value.value } : read
}

/** The same, with its text, in which the server's problems are found. */
export async function readSourced<T>(
  { stdin }: Pick<Io, 'stdin'>,
  file: string,
  wanted: WantedDocument<T>,
): Promise<Outcome<{ readonly value: T; readonly source: Source }>> {
  const input = await readInput(file, stdin)
  if (!input.ok) return refused(invalid(input.message))
  const read = readDocument(input.text, wanted)
  if (read.ok) return { ok: true, value: { value: read.value, source: { file, text: input.text } } }
  const shown = shownFile(file)
  const fields = read.problems.map((problem) => ({
    path: describeProblem(shown, { ...problem, message: '' }),
    message: problem.message,
  }))
  return refused(invalid(`${shown} is not valid.`, fields))
}
