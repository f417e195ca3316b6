import type { Client } from '../../src/client/index.ts'
import type { ResultOf, VariablesOf } from '../../src/documents/typed-document.ts'
import { ask } from './ask.ts'
import { MUTATIONS } from './documents.ts'
import { gql } from './gql.ts'

/** Requests of end-to-end tests to a server, over its public API. */

const OBJECT = gql('query ($id: ID!) { object(id: $id) { phase finished error { code message } } }')
type Spec = VariablesOf<typeof MUTATIONS.createInstallation>['input']['spec']
type Created = NonNullable<ResultOf<typeof MUTATIONS.createInstallation>['answer']>
export type Shown = NonNullable<ResultOf<typeof OBJECT>['object']>

export async function tryCreate(client: Client, name: string, spec: Spec): Promise<Created> {
  const { answer } = await client.query(MUTATIONS.createInstallation, { input: { name, spec } })
  if (!answer) throw new Error('There is no result.')
  return answer
}

export async function create(client: Client, name: string, spec: Spec): Promise<string> {
  const answer = await tryCreate(client, name, spec)
  if (!answer.id) throw new Error(`${answer.code}: ${answer.message}`)
  return answer.id
}

export async function remove(client: Client, id: string): Promise<void> {
  await ask(client, MUTATIONS.deleteInstallation, { id })
}

/** Null when it is gone. */
export async function show(client: Client, id: string): Promise<Shown | null> {
  const { object } = await client.query(OBJECT, { id })
  return object
}

/** So many items without dependencies. */
export const items = (count: number, config: object = {}) => ({
  deployItems: Array.from({ length: count }, (_, i) => ({ name: `item-${i}`, type: 'mock', config })),
})
