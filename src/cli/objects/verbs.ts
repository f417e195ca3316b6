import { invalid, type Outcome, REFUSAL_FRAGMENT, type ResultMember, refused } from '../../client-model/index.ts'
import type { TypedDocument } from '../../documents/typed-document.ts'
import { articled, words } from '../terminal/text.ts'
import type { VerbInfo } from './machines.ts'

type VerbDocument<T> = string &
  TypedDocument<{ readonly answer: (T & ResultMember) | null }, { readonly input: object }>

/**
 * The document of a verb's mutation, its result under the alias `answer`. The server names the mutation, so `T` asserts
 * what the selection brings.
 */
export function verbDocument<T extends object>(
  { mutation }: Pick<VerbInfo, 'mutation'>,
  selection: VerbSelection = '',
): VerbDocument<T> {
  const input = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
  return `mutation Ask($input: ${input}!) { answer: ${mutation}(input: $input) { __typename ${selection} ...Refusal } }\n${REFUSAL_FRAGMENT}`
}

/** The fields of the object that commands select. */
export const OF_OBJECT = '... on TreeObject { id kind name phase }'
type VerbSelection = '' | typeof OF_OBJECT

/** All documents of a verb, for servers that run only those that they know. */
export const verbDocuments = (verb: Pick<VerbInfo, 'mutation'>): readonly string[] => [
  verbDocument(verb),
  verbDocument(verb, OF_OBJECT),
]

/** The input of a verb. A flag that the kind does not have is refused, not ignored. */
export function verbInput(
  { kind, input, flags }: VerbInfo,
  id: string,
  flagsSet: readonly string[],
): Outcome<Record<string, unknown>> {
  const foreign = flagsSet.find((flag) => !flags.some(({ name }) => name === flag))
  if (foreign) return refused(invalid(`${foreign} means nothing for ${articled(words(kind))}.`))
  return { ok: true, value: { ...(input as object), id, ...Object.fromEntries(flagsSet.map((flag) => [flag, true])) } }
}
