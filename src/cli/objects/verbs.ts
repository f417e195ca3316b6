import type { VerbInfo } from './machines.ts'
import { invalid, type Outcome, REFUSAL_FRAGMENT, refused } from './refusal.ts'

/** The document of a verb's mutation, its result under the alias `answer`. */
export function verbDocument({ mutation }: VerbInfo, selection = ''): string {
  const input = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
  return `mutation Ask($input: ${input}!) { answer: ${mutation}(input: $input) { __typename ${selection} ...Refusal } }\n${REFUSAL_FRAGMENT}`
}

/** The input of a verb; a flag that means nothing for its kind is refused rather than ignored. */
export function verbInput(
  { kind, input, flags }: VerbInfo,
  id: string,
  given: readonly string[],
): Outcome<Record<string, unknown>> {
  const foreign = given.find((flag) => !flags.some(({ name }) => name === flag))
  if (foreign) return refused(invalid(`${foreign} means nothing for ${kind}.`))
  return { ok: true, value: { ...input, id, ...Object.fromEntries(given.map((flag) => [flag, true])) } }
}
