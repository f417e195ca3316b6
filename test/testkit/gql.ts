import type { TypedDocument } from '../../src/documents/typed-document.ts'
import type { Documents } from '../generated/documents.d.ts'

type Unknown = 'The schema has no such document: `npm run generate` says why.'

/** A document of a test, typed from schema.graphql by `npm run generate`. Deliberately invalid ones stay plain strings. */
export const gql = <const Text extends string>(
  text: Text extends keyof Documents ? Text : Unknown,
): Text extends keyof Documents
  ? string & TypedDocument<Documents[Text]['result'], Documents[Text]['variables']>
  : never => text as never
