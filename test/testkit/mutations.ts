import type { Client } from '../../src/client/index.ts'
import type { Phase } from '../../src/core/vocabulary.ts'

/** What end-to-end tests ask of a server, over its public API. */

type Answer = { readonly __typename: string; readonly id?: string; readonly message?: string; readonly code?: string }

const CREATE = `mutation ($input: CreateInstallationInput!) {
  answer: createInstallation(input: $input) { __typename ... on Installation { id } ... on Error { code message } }
}`
const DELETE = `mutation ($input: DeleteInstallationInput!) {
  answer: deleteInstallation(input: $input) { __typename ... on Installation { id } ... on Error { code message } }
}`
const OBJECT = 'query ($id: ID!) { object(id: $id) { phase finished error { code message } } }'

export async function tryCreate(client: Client, name: string, spec: object): Promise<Answer> {
  const { answer } = await client.query<{ answer: Answer }>(CREATE, { input: { name, spec } })
  return answer
}

export async function create(client: Client, name: string, spec: object): Promise<string> {
  const answer = await tryCreate(client, name, spec)
  if (!answer.id) throw new Error(`${answer.code}: ${answer.message}`)
  return answer.id
}

export async function remove(client: Client, id: string): Promise<void> {
  const { answer } = await client.query<{ answer: Answer }>(DELETE, { input: { id } })
  if (!answer.id) throw new Error(`${answer.code}: ${answer.message}`)
}

export interface Shown {
  readonly phase: Phase
  readonly finished: boolean
  readonly error: { readonly code: string; readonly message: string } | null
}
/** Null once it is gone. */
export async function show(client: Client, id: string): Promise<Shown | null> {
  const { object } = await client.query<{ object: Shown | null }>(OBJECT, { id })
  return object
}

/** So many items without dependencies. */
export const items = (count: number, config: object = {}) => ({
  deployItems: Array.from({ length: count }, (_, i) => ({ name: `item-${i}`, type: 'mock', config })),
})
