import { gql } from './gql.ts'

/** The documents of the page of the audit. */

const EVENT_FIELDS = `fragment EventFields on AuditEvent {
  sequence cursor at outcome code operation count fields principalId principalName address requestId
  projectName objectId objectKind objectName
}`

export const AUDIT_PAGE = gql(`query AuditPage($filter: AuditFilter!, $first: Int!, $after: String) {
  auditLog(filter: $filter, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor }
    edges { node { ...EventFields } }
  }
}\n${EVENT_FIELDS}`)
/** The newest event that the viewer may see: what follows it is live. */
export const AUDIT_NEWEST = gql('query AuditNewest { auditLog(first: 1) { edges { node { cursor } } } }')
export const AUDIT_EVENTS = gql(`subscription AuditEvents($filter: AuditFilter!, $after: String) {
  auditEvents(filter: $filter, after: $after) { ...EventFields }
}\n${EVENT_FIELDS}`)
export const AUDIT_CHAIN = gql('query AuditChain { auditChain { anchor { sequence } since head { sequence hash } } }')
export const AUDIT_PATHS = gql('query AuditPaths($ids: [ID!]!) { nodes(ids: $ids) { ... on TreeObject { id path } } }')
