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

type Counts = Readonly<Record<`c${number}`, { readonly totalCount: number | null } | null>>
/** One count for each pair, under the aliases c0, c1, … */
export const countsQuery = (
  pairs: readonly (readonly [kind: string, phase: string])[],
): string & TypedDocument<Counts, { readonly project: string | null }> =>
  `query Counts($project: String) {\n${pairs
    .map(
      ([kind, phase], i) =>
        `c${i}: objects(filter: { kinds: [${kind}], phases: [${phase}], project: $project }, first: 1) { totalCount }`,
    )
    .join('\n')}\n}`
