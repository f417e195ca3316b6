import { createClient } from '../../src/client/index.ts'
import type { WorkAction } from '../../src/core/vocabulary.ts'
import { payloadOf } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** Work that the played runner was handed. */
export interface PlayedCall {
  readonly fence: string
  readonly name: string
  readonly action: WorkAction
  readonly config: {
    readonly gadget: string
    readonly args: readonly string[]
    readonly env: Readonly<Record<string, string>>
  }
  readonly object: { readonly project: { readonly name: string }; readonly root: { readonly name: string } }
}
/** A gadget runner that runs nothing: the test says over the API what becomes of each job. */
export interface PlayedRunner extends AsyncDisposable {
  /** Waits for a job, named `ops/copy/dump`, to be handed out for this. */
  take(job: string, action: PlayedCall['action']): Promise<PlayedCall>
  /** Waits for a job, and declares that it needs these, written as gadgets do: `host:web-1=X`. */
  declare(job: string, ...locks: readonly string[]): Promise<PlayedCall>
  /** The fields of a report, such as `phase`. */
  report(call: PlayedCall, what: object): Promise<void>
}

const TOKEN = gql(`mutation {
  createToken(input: { name: "shop-floor", role: AGENT, actor: GADGET_RUNNER, types: ["gadget-job"] }) {
    ... on CreatedToken { secret } ... on Error { message }
  }
}`)
const CLAIM = gql(`mutation { claimWork(input: { instance: "here", types: ["gadget-job"], max: 50, leaseMs: 600000 }) {
  ... on ClaimedWork { items { fence name action config object { project { name } root { name } } } } ... on Error { message }
} }`)
const REPORT = gql(`mutation ($reports: [PhaseReportInput!]!) { reportPhases(input: { reports: $reports }) {
  ... on PhaseReports { results { __typename ... on Error { message } } } ... on Error { message }
} }`)

export async function playRunner({ client: admin, url }: ReachableServer): Promise<PlayedRunner> {
  const { createToken } = await admin.query(TOKEN)
  const client = createClient({ url, token: payloadOf(createToken).secret })
  const offered: PlayedCall[] = []
  const report = async ({ fence }: PlayedCall, what: object): Promise<void> => {
    const answer = await client.query(REPORT, { reports: [{ fence, ...what }] })
    if (!JSON.stringify(answer).includes('PhaseReportAccepted')) throw new Error(JSON.stringify(answer))
  }
  const find = async (job: string, action: string): Promise<PlayedCall | undefined> => {
    const { claimWork } = await client.query(CLAIM)
    for (const { object, config, ...item } of payloadOf(claimWork).items)
      if (object) offered.push({ ...item, object, config: config as PlayedCall['config'] })
    const at = offered.findIndex((call) => call.action === action && addressOf(call) === job)
    return at === -1 ? undefined : offered.splice(at, 1)[0]
  }
  const take: PlayedRunner['take'] = (job, action) =>
    until(() => find(job, action), { what: `${action} of ${job} is handed out` })
  return {
    take,
    report,
    async declare(job, ...locks) {
      const call = await take(job, 'GET_LOCKS')
      await report(call, { phase: 'WAITING', locks: locks.map(lockOf) })
      return call
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const addressOf = ({ object, name }: PlayedCall): string => `${object.project.name}/${object.root.name}/${name}`

function lockOf(text: string): object {
  const at = text.lastIndexOf('=')
  return { resource: text.slice(0, at), mode: text.slice(at + 1) === 'S' ? 'SHARED' : 'EXCLUSIVE' }
}
