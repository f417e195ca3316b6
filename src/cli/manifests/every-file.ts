import { invalid, type Outcome, refused } from '../objects/refusal.ts'

/** Reads all files of a repeated `-f`, in their order, and reports the problems of all of them together. */
export async function everyFile<T>(
  files: readonly string[],
  read: (file: string) => Promise<Outcome<T>>,
): Promise<Outcome<readonly T[]>> {
  const outcomes = await Promise.all(files.map(read))
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
