import { type Client, createClient } from '../../src/client/index.ts'
import type { Phase } from '../../src/core/vocabulary.ts'
import { payloadOf } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** A request that the played CRM received. */
export interface PlayedRequest {
  readonly fence: string
  readonly action: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly path: readonly string[]
  readonly spec: unknown
  readonly specRevision: number
}
/** An instance that the CRM reports when it connects. */
export interface PlayedObject {
  readonly kind: 'CLUSTER_INST' | 'APP_INST'
  readonly path: readonly string[]
  readonly phase: Phase
  readonly specRevision?: number
}
/** A CRM that keeps nothing: the test says over the API what becomes of each request. Disposed, it has disconnected. */
export interface PlayedCrm extends AsyncDisposable {
  /** Fence of its session, for the reports of a CRM_V2. */
  readonly fence: string
  readonly epoch: number
  /** Waits for a request for `edge1/cluster1` to come, each one once. */
  take(path: string, action: PlayedRequest['action']): Promise<PlayedRequest>
  /** The fields of a report, such as `phase`. */
  report(request: Pick<PlayedRequest, 'fence'>, what: object): Promise<void>
}
export interface Connecting {
  readonly instance: string
  readonly version?: string
  readonly role?: 'CRM' | 'CRM_V2'
  readonly objects?: readonly PlayedObject[]
}
export interface CrmSite {
  connect(cloudletId: string, how: Connecting): Promise<PlayedCrm>
}

const TOKEN = gql(`mutation {
  createToken(input: { name: "site", role: AGENT, actor: CRM }) { ... on CreatedToken { secret } ... on Error { message } }
}`)
const CONNECT = gql(`mutation ($input: ConnectCrmInput!) { connectCrm(input: $input) {
  ... on CrmSession { epoch fence } ... on Error { message }
} }`)
const REQUESTS = gql(`subscription ($cloudletId: ID!, $epoch: Int!) {
  crmRequests(cloudletId: $cloudletId, epoch: $epoch) { fence action path spec specRevision }
}`)
const REPORT = gql(`mutation ($reports: [PhaseReportInput!]!) { reportPhases(input: { reports: $reports }) {
  ... on PhaseReports { results { __typename ... on Error { message } } } ... on Error { message }
} }`)

export async function playCrms({ client: admin, url }: ReachableServer): Promise<CrmSite> {
  const { createToken } = await admin.query(TOKEN)
  return {
    async connect(cloudletId, { instance, version = '1', role = 'CRM', objects = [] }) {
      const client = createClient({ url, token: payloadOf(createToken).secret })
      const input = { cloudletId, instance, version, role, objects, leaseMs: 600_000 }
      const { connectCrm } = await client.query(CONNECT, { input })
      return playSession(client, cloudletId, payloadOf(connectCrm))
    },
  }
}

function playSession(
  client: Client,
  cloudletId: string,
  { epoch, fence }: Pick<PlayedCrm, 'epoch' | 'fence'>,
): PlayedCrm {
  const ended = new AbortController()
  const asked: PlayedRequest[] = []
  const taken = new Set<string>()
  const listening = (async () => {
    const requests = client.subscribe(REQUESTS, { cloudletId, epoch }, { signal: ended.signal })
    for await (const { crmRequests } of requests) asked.push(crmRequests)
  })()
  return {
    epoch,
    fence,
    take: (path, action) =>
      until(
        () => {
          const found = asked.find(
            (one) => one.action === action && one.path.join('/') === path && !taken.has(one.fence),
          )
          if (found) taken.add(found.fence)
          return found
        },
        { what: `${action} of ${path} is asked for` },
      ),
    async report(request, what) {
      const answer = await client.query(REPORT, { reports: [{ fence: request.fence, ...what }] })
      if (!JSON.stringify(answer).includes('PhaseReportAccepted')) throw new Error(JSON.stringify(answer))
    },
    async [Symbol.asyncDispose]() {
      ended.abort()
      await listening
      await client.close()
    },
  }
}
