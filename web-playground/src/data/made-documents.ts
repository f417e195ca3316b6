import type { TypedDocument } from 'phaseline/client'

/** Documents whose text depends on the server's families. */

type ActMutation = TypedDocument<
  { readonly answer: { readonly code?: string; readonly message?: string } | null },
  { readonly input: object }
>
/** A mutation that the server may have named, so its type is asserted. */
export const actMutation = (field: string, input: string): string & ActMutation => `mutation Act($input: ${input}!) {
  answer: ${field}(input: $input) { __typename ... on Error { code message } }
}`
