import { type Client, createClient } from '../../src/client/index.ts'
import type { ObjectKind, Phase } from '../../src/core/vocabulary.ts'
import type { ResultOf, VariablesOf } from '../../src/documents/typed-document.ts'
import { ask, type Payload } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'

/** Requests of users and agents that a server of any release understands. Newer features are not used here. */

const FIND = gql(`query ($kind: ObjectKind!, $path: [String!]!, $project: String!) {
  object: objectByPath(kind: $kind, path: $path, project: $project) { id kind phase error { code } }
}`)
export type Found = NonNullable<ResultOf<typeof FIND>['object']>
/** The object at `project:root/child`; null: there is none. */
export async function find(client: Client, kind: ObjectKind, address: string): Promise<Found | null> {
  const [project = '', path = ''] = address.split(':')
  return (await client.query(FIND, { kind, path: path.split('/'), project })).object
}
export const reach = (client: Client, kind: ObjectKind, address: string, phase: Phase): Promise<Found> =>
  until(
    async () => {
      const found = await find(client, kind, address)
      return found?.phase === phase ? found : null
    },
    { what: `${address} is ${phase}` },
  )

const CLAIM = gql(`mutation ($input: ClaimWorkInput!) { answer: claimWork(input: $input) {
  __typename ... on ClaimedWork { items { fence name action objectId attempt token config } } ... on Error { message }
} }`)
export type Item = Payload<NonNullable<ResultOf<typeof CLAIM>['answer']>>['items'][number]
/** Takes work and says what has become of it. */
export interface PlayedAgent extends AsyncDisposable {
  readonly client: Client
  /** Waits for work on an object of this name, and claims all else that there is with it. */
  take(name: string, action: string): Promise<Item>
  /** The fields of a report. */
  report(fence: string, what: object): Promise<void>
}
export interface Playing {
  readonly url: string
  readonly token: string
  readonly types: readonly string[]
  readonly leaseMs?: number
  readonly instance?: string
}

/** As long as a lease may be: what is held when the database is left is held when it is restored. */
const LEASE_MS = 600_000

export function playAgent(playing: Playing): PlayedAgent {
  const { url, token, types, leaseMs = LEASE_MS, instance = 'played' } = playing
  const client = createClient({ url, token })
  const claimed: Item[] = []
  const look = async (name: string, action: string): Promise<Item | undefined> => {
    const input = { instance, types, targets: ['here'], max: 50, leaseMs }
    claimed.push(...(await ask(client, CLAIM, input)).items)
    const at = claimed.findIndex((item) => item.name === name && item.action === action)
    return at === -1 ? undefined : claimed.splice(at, 1)[0]
  }
  return {
    client,
    take: (name, action) => until(() => look(name, action), { what: `${action} of ${name} is handed out` }),
    async report(fence, what) {
      const { results } = await ask(client, MUTATIONS.reportPhases, { reports: [{ fence, ...what }] })
      const [result] = results
      if (result?.__typename !== 'PhaseReportAccepted')
        throw new Error(`${JSON.stringify(what)}: ${result?.__typename} ${result?.message}`)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const CONNECT = gql(`mutation ($input: ConnectCrmInput!) { answer: connectCrm(input: $input) {
  __typename ... on CrmSession { epoch fence requests { fence action path } } ... on Error { message }
} }`)
export type CrmConnection = VariablesOf<typeof CONNECT>['input']
export type CrmSession = Payload<NonNullable<ResultOf<typeof CONNECT>['answer']>>
/** Connects, or comes back: without a subscription its requests come with the answer. */
export const connectCrm = (client: Client, input: CrmConnection): Promise<CrmSession> => ask(client, CONNECT, input)
