import { callAgents } from '../../../client/agent/agent-api.ts'
import type { Client, SubscribeOptions } from '../../../client/client.ts'
import { gql } from '../../../documents/gql.ts'
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
const CONNECT = gql(`mutation Connect($input: ConnectCrmInput!) {
  connectCrm(input: $input) {
    __typename
    ... on CrmSession { epoch fence requests { ${REQUEST} } }
    ... on Error { message code }
  }
}`)
const REQUESTS = gql(`subscription Requests($cloudletId: ID!, $epoch: Int!) {
  crmRequests(cloudletId: $cloudletId, epoch: $epoch) { ${REQUEST} }
}`)

/** @throws ClientError; with the code STALE_REPORT a newer CRM has connected */
export async function connectCrm(client: Client, request: ConnectRequest, signal: AbortSignal): Promise<CrmSession> {
  const { epoch, fence, requests } = await callAgents(client, 'connectCrm', CONNECT, request, signal)
  return { epoch, fence, requests: requests.filter(isKnown) }
}

/** The requests of one connection. The client calls `variables` at each reconnection. */
export async function* subscribeRequests(
  client: Client,
  variables: () => { readonly cloudletId: string; readonly epoch: number },
  options: SubscribeOptions,
): AsyncGenerator<CrmRequest> {
  for await (const { crmRequests } of client.subscribe(REQUESTS, variables, options)) {
    if (isKnown(crmRequests)) yield crmRequests
  }
}

const KINDS: ReadonlySet<string> = new Set<CrmRequest['kind']>(['CLOUDLET', 'CLUSTER_INST', 'APP_INST'])
/** A newer server may have kinds that this CRM cannot make. */
const isKnown = <R extends { readonly kind: string }>(request: R): request is R & Pick<CrmRequest, 'kind'> =>
  KINDS.has(request.kind)
