import type { Documents } from './generated/documents.d.ts'
import type { TypedDocument } from './typed-document.ts'

/** The compiler's message for a text without types. */
type Unknown = 'The schema has no such document: `npm run generate` says why.'

/** A document of our own, typed from schema.graphql by `npm run generate`. The text must be a constant. */
export const gql = <const Text extends string>(
  text: Text extends keyof Documents ? Text : Unknown,
): Text extends keyof Documents
  ? string & TypedDocument<Documents[Text]['result'], Documents[Text]['variables']>
  : never => text as never

/** The data of a fragment, by the type of its constant. */
export type FragmentOf<Text extends keyof Documents> = Documents[Text]['result']
