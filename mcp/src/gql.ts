import type { TypedDocument } from 'phaseline/client'
import type { Documents } from './generated/documents.d.ts'

/** The compiler's message for a text without types. */
type Unknown = 'The schema has no such document: `npm run generate` says why.'

/** A document of this server, typed from schema.graphql by `npm run generate`. The text must be a constant. */
export const gql = <const Text extends string>(
  text: Text extends keyof Documents ? Text : Unknown,
): Text extends keyof Documents
  ? string & TypedDocument<Documents[Text]['result'], Documents[Text]['variables']>
  : never => text as never

/** The result of a document. */
export type ResultOf<Document> = Document extends TypedDocument<infer Result, never> ? Result : never

/** The variables of a document. */
export type VariablesOf<Document> = Document extends TypedDocument<unknown, infer Variables> ? Variables : never
