import { AUTOMATIC_FRAGMENT, MANIFEST_FRAGMENT } from 'phaseline/client-model'
import { gql } from './gql.ts'

/** The documents of the dashboard, all of the public API. */

const ROW_FIELDS = `fragment RowFields on TreeObject {
  id kind name ordinal phase phaseSince createdAt finished revision
  project { name } parent { id } root { id name } error { code message }
  pendingRequests { verb mode by at message } pause { at by reason }
}`

/** Objects in a list are not beside their parents: each has its path. */
const LISTED_FIELDS = `fragment ListedFields on TreeObject { path labels { key value } ...RowFields }\n${ROW_FIELDS}`

export const ROWS = gql(`query Rows($filter: ObjectFilter!, $orderBy: ObjectOrder!, $first: Int!, $after: String) {
  objects(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor }
    edges { node { ...ListedFields } }
  }
}\n${LISTED_FIELDS}`)
export const ROW_COUNT = gql(
  'query RowCount($filter: ObjectFilter!) { objects(filter: $filter, first: 1) { totalCount } }',
)
export const ROWS_BY_ID = gql(`query RowsById($ids: [ID!]!) { nodes(ids: $ids) { ...RowFields } }\n${ROW_FIELDS}`)

export const LISTED_BY_ID = gql(
  `query ListedById($ids: [ID!]!) { nodes(ids: $ids) { ...ListedFields } }\n${LISTED_FIELDS}`,
)
/** A path within a project, and one that begins with its project. */
export const AT_PATH = gql(`query AtPath($own: String!, $path: [String!]!, $first: String!, $rest: [String!]!) {
  within: objectsByPath(project: $own, path: $path) { ...ListedFields }
  named: objectsByPath(project: $first, path: $rest) { ...ListedFields }
}\n${LISTED_FIELDS}`)

export const TREE = gql(`query TreePage($rootId: ID!, $first: Int!, $after: String) {
  tree(rootId: $rootId) {
    sequence
    objects(first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node { ...RowFields } } }
  }
}\n${ROW_FIELDS}`)
export const RELATIONS = gql(`query Relations($rootId: ID!, $first: Int!, $after: String) {
  tree(rootId: $rootId) {
    relations(first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node { from to kind } } }
  }
}`)

const HEAD_FIELD = 'log { head endCursor }'
export const HEAD = gql(`query Head { ${HEAD_FIELD} }`)
/** The first query of a session: the kinds with their machines, and the end of the log before any other read. */
export const OPENING = gql(`query Opening {
  viewer { id role administrator }
  families { name title kinds { kind noun agents } }
  stateMachines {
    name kinds initial final phases transitions { from actor to reason } classes { phase class }
    verbs {
      machine kind name label mutation phases to rootsOnly finished whileDeleting confirm danger input otherwise
      flags { name confirmed }
    }
  }
  ${HEAD_FIELD}
}`)

export const EXPORTS = gql('query Exports($ids: [ID!]!) { nodes(ids: $ids) { ... on Installation { id exports } } }')

const LINK = 'id kind name phase root { id }'
const BLOCKERS = `reason message source { ${LINK} }
  ... on AgentBlocker { connected }
  ... on DependencyBlocker { object { ${LINK} } }
  ... on ParentBlocker { object { ${LINK} } }
  ... on SiblingImportBlocker { object { ${LINK} } }
  ... on CloudletBlocker { object { ${LINK} } }
  ... on LockBlocker { resource position holders { ${LINK} } }
  ... on NotInJobBlocker { object { ${LINK} } }
  ... on DecisionBlocker { object { ${LINK} } verbs { name label allowed } }`

const LAST_RUN = `fragment LastRun on TreeObject {
  history(first: 1) { edges { node { from by } } }
  ... on Installation { runs(first: 1) { edges { node { cause by startedAt durationMs } } } }
}`

export const UNFINISHED = gql(`query Unfinished(
  $filter: ObjectFilter!, $undecided: ObjectFilter!, $roots: ObjectFilter!, $first: Int!, $firstRoots: Int!
) {
  objects(filter: $filter, first: $first) {
    totalCount
    edges { node { ...RowFields ...Waits } }
  }
  undecided: objects(filter: $undecided, first: $first) { edges { node { ...RowFields ...Waits } } }
  running: objects(filter: $roots, orderBy: { field: PHASE_SINCE, direction: DESC }, first: $firstRoots) {
    pageInfo { hasNextPage }
    edges { node { ...RowFields ...Waits ...LastRun treeCounts { all finished } } }
  }
}
fragment Waits on TreeObject {
  blockedBy(first: 3) {
    reason message
    ... on AgentBlocker { connected }
    ... on DecisionBlocker { object { id } verbs { name label } }
  }
}\n${LAST_RUN}\n${ROW_FIELDS}`)

export const TREES = gql(`query Trees($filter: ObjectFilter!, $first: Int!) {
  objects(filter: $filter, orderBy: { field: PHASE_SINCE, direction: DESC }, first: $first) {
    totalCount edges { node { ...RowFields ...LastRun labels { key value } } }
  }
  projects(first: 1) { totalCount }
}\n${LAST_RUN}\n${ROW_FIELDS}`)

/** All fields of the client's PhaseChange. */
export const CHANGE =
  'sequence objectId kind name path rootId projectName machine from to actor by reason message jobId revision rejected at'

export const FAILURES = gql(`query Failures($first: Int!, $failed: ObjectFilter!, $undone: PhaseChangeFilter!) {
  objects(filter: $failed, orderBy: { field: CREATED_AT, direction: DESC }, first: $first) {
    totalCount edges { node { ...RowFields path } }
  }
  phaseChanges(filter: $undone, last: $first) { edges { node { ${CHANGE} } } }
}\n${ROW_FIELDS}`)

const ARTIFACTS = `artifacts(last: 30) { totalCount edges { node {
  id name size sha256 fileName createdAt expiresAt object { ${LINK} }
} } }`

/** Secrets are named, never shown. */
const WORKLOAD_SPEC = `runtime command args image timeoutMs
      services { name image command args env { name value } secrets ports user readiness { port command timeoutMs } }`

export const DETAILS = gql(`query Details($id: ID!) {
  object(id: $id) {
    ...RowFields
    updatedAt generation observedGeneration deletionRequestedAt labels { key value }
    progress { step value total unit }
    deadlines { name since expiresAt to }
    failure: error { code message at causeCount causes(first: 10) { code kind message name objectId object { root { id } } }
      rootCause { objectId name code message object { path root { id } } } }
    verbs { name allowed obstacle why effect }
    tree: root { id kind name phase finished parent { id } deletionRequestedAt verbs { name allowed obstacle why effect } }
    blockedBy(first: 10) { ${BLOCKERS} }
    dependsOn(first: 20) { totalCount edges { node { ${LINK} } } }
    ... on Installation { exports imports ...Manifest ...Automatic }
    ... on WorkObject { maxAttempts attempts { number agent begunAt endedAt notBefore error { code message } } }
    ... on DeployItem { type target config attempt exports agent { name instance } }
    ... on Event { ${ARTIFACTS} source eventType: type qualifiers { key value } retryOf { ${LINK} } cloneOf { ${LINK} } }
    ... on GadgetJob { gadget args activity exports agent { name instance } }
    ... on Job { ${ARTIFACTS} exitCode signal commit workloadSpec { ${WORKLOAD_SPEC} } agent { name instance } }
    ... on Worker { ${ARTIFACTS} exitCode signal commit workloadSpec { ${WORKLOAD_SPEC} } agent { name instance } }
    ... on ClusterInst { spec drifted }
    ... on AppInst { spec drifted }
    ... on Cloudlet { version epoch upgradePhase drifted }
  }
}\n${ROW_FIELDS}\n${MANIFEST_FRAGMENT}\n${AUTOMATIC_FRAGMENT}`)

export const EVENT_PAYLOAD = gql('query EventPayload($id: ID!) { object(id: $id) { ... on Event { payload } } }')

export const LOGS = gql(`subscription Logs($objectId: ID!, $after: String) {
  logs(objectId: $objectId, after: $after) { at cursor stream text }
}`)

export const LOG_PAGE = gql(`query LogPage($filter: PhaseChangeFilter, $last: Int!, $before: String) {
  phaseChanges(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor }
    edges { node { cursor ${CHANGE} } }
  }
}`)
