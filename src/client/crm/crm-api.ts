import { type Answer, callAgents } from '../agent/agent-api.ts'
import type { Client } from '../client.ts'
import type { CrmObject, CrmOptions, CrmRequest } from './crm.ts'

export interface CrmSession {
  readonly epoch: number
  /** Of the connection. */
  readonly fence: string
  /** Those that were outstanding. */
  readonly requests: readonly CrmRequest[]
}
export interface ConnectRequest {
  readonly cloudletId: string
  readonly instance: string
  readonly role: NonNullable<CrmOptions['role']>
  readonly version: string
  readonly leaseMs: number
  /** From 1, one more with each call: one that is overtaken on its way must not be taken for what there is. */
  readonly call: number
  readonly objects: readonly CrmObject[]
}

const REQUEST = 'fence objectId kind path action operationId specRevision spec'
const CONNECT = `mutation Connect($input: ConnectCrmInput!) {
  connectCrm(input: $input) {
    __typename
    ... on CrmSession { epoch fence requests { ${REQUEST} } }
    ... on Error { message code }
  }
}`
export const REQUESTS = `subscription Requests($cloudletId: ID!, $epoch: Int!) {
  crmRequests(cloudletId: $cloudletId, epoch: $epoch) { ${REQUEST} }
}`

/** @throws ClientError; with the code STALE_REPORT a newer CRM has connected */
export function connectCrm(client: Client, request: ConnectRequest, signal: AbortSignal): Promise<CrmSession> {
  return callAgents<Answer & CrmSession>(client, 'connectCrm', CONNECT, request, signal)
}
