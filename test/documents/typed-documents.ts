import { type Client, createClient } from '../../src/client/index.ts'
import type { ResultOf } from '../../src/documents/typed-document.ts'
import { gql } from '../testkit/gql.ts'

/**
 * Documents that the compiler must accept or refuse. Nobody runs this file: `tsc -p .` fails where an expected error does
 * not come.
 */

const NAME = gql('query ($id: ID!) { object(id: $id) { name ... on Installation { generation } } }')
const FIELDS = 'fragment Fields on TreeObject { phase blockedBy(first: 1) { reason } }'
const PAGE = gql(`query ($first: Int) { objects(first: $first) { edges { node { id ...Fields } } } }\n${FIELDS}`)
const HEAD = gql('subscription ($after: Sequence!) { phaseLog(after: $after) { cursor } }')

// @ts-expect-error a field that the schema does not have
export const WRONG_FIELD = gql('query ($id: ID!) { object(id: $id) { nmae } }')
// @ts-expect-error an argument that the schema does not have
export const WRONG_ARGUMENT = gql('query ($id: ID!) { object(di: $id) { name } }')
// @ts-expect-error a type that the schema does not have
export const WRONG_TYPE = gql('query ($id: ID!) { object(id: $id) { ... on Instalation { name } } }')
// @ts-expect-error a value that the enum does not have
export const WRONG_VALUE = gql('{ objects(filter: { kinds: [INSTALATION] }) { totalCount } }')
// @ts-expect-error a variable of another type than its argument
export const WRONG_VARIABLE = gql('query ($id: Int!) { object(id: $id) { name } }')
// @ts-expect-error a text that only the running program knows
export const UNKNOWN_TEXT = gql(`{ viewer { ${process.argv[0]} } }`)

export async function results(client: Client): Promise<void> {
  const { object } = await client.query(NAME, { id: 'x' })
  const name: string | undefined = object?.name
  const generation: number | undefined = object?.generation
  // @ts-expect-error the answer may be null
  object.name
  // @ts-expect-error a name that is not selected
  object?.phase

  const { objects } = await client.query(PAGE)
  const reasons: readonly string[] = (objects?.edges ?? []).flatMap(({ node }) =>
    node.blockedBy.map(({ reason }) => reason),
  )
  // @ts-expect-error the phases are the schema's
  objects?.edges[0]?.node.phase === 'REDY'

  for await (const { phaseLog } of client.subscribe(HEAD, () => ({ after: 0 }))) {
    const { cursor }: ResultOf<typeof HEAD>['phaseLog'] = phaseLog
    void [name, generation, reasons, cursor]
  }
}

export async function variables(client: Client): Promise<void> {
  await client.query(PAGE, { first: 3 }, { signal: AbortSignal.timeout(1) })
  // @ts-expect-error a required variable is missing
  await client.query(NAME)
  // @ts-expect-error a variable of another type
  await client.query(NAME, { id: 7 })
  // @ts-expect-error a variable that the document does not have
  await client.query(PAGE, { last: 3 })
  // @ts-expect-error a variable of another type at a reconnection
  client.subscribe(HEAD, () => ({ after: null }))
}

/** Users' own documents: plain strings, and typed ones of other tools. */
export async function others(
  document: string,
  typed: CodegenDocument<{ viewer: null }, { id: string }>,
): Promise<void> {
  const client = createClient({ url: 'http://localhost/', token: 'x' })
  const { viewer } = await client.query<{ viewer: string }>(document, { anything: 1 })
  const length: number = viewer.length
  const answer: { viewer: null } = await client.query(typed, { id: 'x' })
  // @ts-expect-error an answer of another type
  const wrong: { viewer: string } = await client.query(typed, { id: 'x' })
  void [length, answer, wrong]
}

/** The shape of what graphql-codegen makes with `documentMode: 'string'`. */
declare class CodegenDocument<Result, Variables> extends String {
  __apiType?: (variables: Variables) => Result
}
