import { type Answer, callAgents } from '../agent/agent-api.ts'
import type { Client } from '../client.ts'
import type { CrmObject, CrmOptions, CrmRequest } from './crm.ts'

export interface CrmSession {
  readonly epoch: number
  /** Fence of the connection. */
  readonly fence: string
  /** The outstanding requests. */
  readonly requests: readonly CrmRequest[]
}
export interface ConnectRequest {
  readonly cloudletId: string
  readonly instance: string
  readonly role: NonNullable<CrmOptions['role']>
  readonly version: string
  readonly leaseMs: number
  /** Counts the calls from 1: the server ignores the objects of a call that a later one has overtaken. */
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
