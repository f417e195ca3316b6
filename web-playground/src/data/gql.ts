import type { TypedDocument } from 'phaseline/client'
import type { Documents } from '../generated/documents.d.ts'

/** The compiler's message for a text without types. */
type Unknown = 'The schema has no such document: `npm run generate` says why.'

/** A document of the dashboard, typed from schema.graphql by `npm run generate`. The text must be a constant. */
export const gql = <const Text extends string>(
  text: Text extends keyof Documents ? Text : Unknown,
): Text extends keyof Documents
  ? string & TypedDocument<Documents[Text]['result'], Documents[Text]['variables']>
  : never => text as never

/** The result of a document. */
export type ResultOf<Document> = Document extends TypedDocument<infer Result, never> ? Result : never

/** The variables of a document. */
export type VariablesOf<Document> = Document extends TypedDocument<never, infer Variables> ? Variables : never

/** A node of a connection, which is null only together with an error. */
export type NodeOf<C> = C extends { readonly edges: readonly { readonly node: infer Node }[] } ? Node : never
