import { invalid, type Outcome, type Refusal, refused } from '../../client-model/index.ts'
import { expandFiles } from './expand-files.ts'

/** Values of the files that could be read, and the problems of the others. */
export interface Readable<T> {
  readonly values: readonly T[]
  readonly refusals: readonly Refusal[]
}

/** Reads all files that `-f` names, in their order. */
export async function eachFile<T>(
  args: readonly string[],
  read: (file: string) => Promise<Outcome<T>>,
): Promise<Readable<T>> {
  const files = await expandFiles(args)
  if (!files.ok) return { values: [], refusals: [files.refusal] }
  const outcomes: Outcome<T>[] = []
  // One after the other: a folder may hold more files than a process may have open.
  for (const file of files.value) outcomes.push(await read(file))
  return {
    values: outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : [])),
    refusals: outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.refusal])),
  }
}

/** All of them, or the problems of all of them together. */
export function allOrNone<T>({ values, refusals }: Readable<T>): Outcome<readonly T[]> {
  if (refusals.length === 0) return { ok: true, value: values }
  const messages = refusals.map(({ message }) => message)
  return refused(
    invalid(
      messages.join(' '),
      refusals.flatMap(({ fields = [] }) => fields),
    ),
  )
}

export const everyFile = async <T>(
  args: readonly string[],
  read: (file: string) => Promise<Outcome<T>>,
): Promise<Outcome<readonly T[]>> => allOrNone(await eachFile(args, read))
