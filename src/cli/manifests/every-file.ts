import { invalid, type Outcome, refused } from '../../client-model/index.ts'
import { expandFiles } from './expand-files.ts'

/** Reads all files that `-f` names, in their order, and reports the problems of all of them together. */
export async function everyFile<T>(
  args: readonly string[],
  read: (file: string) => Promise<Outcome<T>>,
): Promise<Outcome<readonly T[]>> {
  const files = await expandFiles(args)
  if (!files.ok) return files
  const outcomes: Outcome<T>[] = []
  // One after the other: a folder may hold more files than a process may have open.
  for (const file of files.value) outcomes.push(await read(file))
  const refusals = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.refusal]))
  if (refusals.length > 0) {
    const messages = refusals.map(({ message }) => message)
    return refused(
      invalid(
        messages.join(' '),
        refusals.flatMap(({ fields = [] }) => fields),
      ),
    )
  }
  return { ok: true, value: outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : [])) }
}
