import { type Client, createClient } from '../../src/client/index.ts'
import { until } from '../testkit/wait.ts'

/** What users and agents ask of a server of any release over its API. What only newer ones know is not used here. */

export interface Answer {
  readonly __typename: string
  readonly id?: string
  readonly message?: string
}
/** A mutation by its name. Throws when it is refused. */
export async function ask<T extends object = Answer>(
  client: Client,
  field: string,
  input: object,
  select = '... on Node { id }',
): Promise<T & Answer> {
  const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`
  const { answer } = await client.query<{ answer: T & Answer }>(
    `mutation ($input: ${type}!) { answer: ${field}(input: $input) { __typename ${select} ... on Error { message } } }`,
    { input },
  )
  if (answer.__typename.endsWith('Error')) throw new Error(`${field}: ${answer.message} ${JSON.stringify(input)}`)
  return answer
}

export interface Shown {
  readonly id: string
  readonly kind: string
  readonly phase: string
  readonly error: { readonly code: string } | null
}
/** The object at `project:root/child`; null: there is none. */
export async function find(client: Client, kind: string, address: string): Promise<Shown | null> {
  const [project = '', path = ''] = address.split(':')
  const { object } = await client.query<{ object: Shown | null }>(
    `query ($kind: ObjectKind!, $path: [String!]!, $project: String!) {
      object: objectByPath(kind: $kind, path: $path, project: $project) { id kind phase error { code } } }`,
    { kind, path: path.split('/'), project },
  )
  return object
}
export const reach = (client: Client, kind: string, address: string, phase: string): Promise<Shown> =>
  until(
    async () => {
      const found = await find(client, kind, address)
      return found?.phase === phase ? found : null
    },
    { what: `${address} is ${phase}` },
  )

export interface Item {
  readonly fence: string
  readonly name: string
  readonly action: string
  readonly objectId: string
  readonly attempt: number
  readonly token: string | null
  readonly config: Readonly<Record<string, unknown>> | null
}
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

const CLAIM = '... on ClaimedWork { items { fence name action objectId attempt token config } }'
const REPORTS = '... on PhaseReports { results { __typename ... on Error { message } } }'
/** As long as a lease may be: what is held when the database is left is held when it is restored. */
const LEASE_MS = 600_000

export function playAgent(playing: Playing): PlayedAgent {
  const { url, token, types, leaseMs = LEASE_MS, instance = 'played' } = playing
  const client = createClient({ url, token })
  const held: Item[] = []
  const look = async (name: string, action: string): Promise<Item | undefined> => {
    const input = { instance, types, targets: ['here'], max: 50, leaseMs }
    held.push(...(await ask<{ items: readonly Item[] }>(client, 'claimWork', input, CLAIM)).items)
    const at = held.findIndex((item) => item.name === name && item.action === action)
    return at === -1 ? undefined : held.splice(at, 1)[0]
  }
  return {
    client,
    take: (name, action) => until(() => look(name, action), { what: `${action} of ${name} is handed out` }),
    async report(fence, what) {
      type Results = { results: readonly Answer[] }
      const { results } = await ask<Results>(client, 'reportPhases', { reports: [{ fence, ...what }] }, REPORTS)
      const [result] = results
      if (result?.__typename !== 'PhaseReportAccepted')
        throw new Error(`${JSON.stringify(what)}: ${result?.__typename} ${result?.message}`)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

export interface CrmSession {
  readonly epoch: number
  readonly fence: string
  readonly requests: readonly { readonly fence: string; readonly action: string; readonly path: readonly string[] }[]
}
/** Connects, or comes back: without a subscription its requests come with the answer. */
export const connectCrm = (client: Client, input: object): Promise<CrmSession> =>
  ask<CrmSession>(client, 'connectCrm', input, '... on CrmSession { epoch fence requests { fence action path } }')
