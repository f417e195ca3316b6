import { gql } from './gql.ts'

/** The documents of the dashboard, all of the public API. */

export const ROW_FIELDS = `fragment RowFields on TreeObject {
  id kind name ordinal phase phaseSince createdAt finished revision
  project { name } parent { id } root { id name } error { code message }
  pendingRequests { verb mode by at message } pause { at by reason }
}`

/** Objects in a list are not beside their parents: each has its path. */
const LISTED_FIELDS = `fragment ListedFields on TreeObject { path labels { key value } ...RowFields }\n${ROW_FIELDS}`

const LAST_RUN = `fragment LastRun on TreeObject {
  history(first: 1) { edges { node { from by } } }
  ... on Installation { runs(first: 1) { edges { node { cause by startedAt durationMs } } } }
}`
/** The same with the last run, if `runs` is true. */
const WITH_RUN = '...ListedFields ...LastRun @include(if: $runs)'

export const ROWS =
  gql(`query Rows($filter: ObjectFilter!, $orderBy: ObjectOrder!, $first: Int!, $after: String, $runs: Boolean! = false) {
  objects(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor }
    edges { node { ${WITH_RUN} } }
  }
}\n${LISTED_FIELDS}\n${LAST_RUN}`)
export const ROW_COUNT = gql(
  'query RowCount($filter: ObjectFilter!) { objects(filter: $filter, first: 0) { totalCount } }',
)
export const ROWS_BY_ID = gql(`query RowsById($ids: [ID!]!) { nodes(ids: $ids) { ...RowFields } }\n${ROW_FIELDS}`)

export const LISTED_BY_ID = gql(
  `query ListedById($ids: [ID!]!, $runs: Boolean! = false) { nodes(ids: $ids) { ${WITH_RUN} } }\n${LISTED_FIELDS}\n${LAST_RUN}`,
)
/** A path within a project, and one that begins with its project. */
export const AT_PATH = gql(`query AtPath($own: String!, $path: [String!]!, $first: String!, $rest: [String!]!) {
  within: objectsByPath(project: $own, path: $path) { ...ListedFields }
  named: objectsByPath(project: $first, path: $rest) { ...ListedFields }
}\n${LISTED_FIELDS}`)

const DEPENDENCY_PAGE = 'pageInfo { hasNextPage endCursor } edges { node { from to } }'
/** Root and project are the same for all objects, and only the root shows the pause: the first page has them once. */
export const TREE = gql(`query TreePage($rootId: ID!, $first: Int!, $after: String, $isFirst: Boolean!) {
  root: object(id: $rootId) @include(if: $isFirst) { id name project { name } pause { at by reason } }
  tree(rootId: $rootId) {
    sequence
    objects(first: $first, after: $after) {
      totalCount @include(if: $isFirst)
      pageInfo { hasNextPage endCursor }
      edges { node {
        id kind name ordinal phase phaseSince createdAt finished revision parent { id } error { code message }
        pendingRequests { verb mode by at message }
      } }
    }
    relations(first: $first, kind: DEPENDS_ON) @include(if: $isFirst) { ${DEPENDENCY_PAGE} }
  }
}`)
export const DEPENDENCIES = gql(`query Dependencies($rootId: ID!, $first: Int!, $after: String) {
  tree(rootId: $rootId) {
    relations(first: $first, after: $after, kind: DEPENDS_ON) { ${DEPENDENCY_PAGE} }
  }
}`)

const HEAD_FIELD = 'log { head endCursor }'
export const HEAD = gql(`query Head { ${HEAD_FIELD} }`)
/** The first query of a session: the kinds with their machines, and the end of the log before any other read. */
export const OPENING = gql(`query Opening {
  viewer { id role administrator grants { role projectId project { name } } }
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
  projects(first: 0) { totalCount }
}\n${LAST_RUN}\n${ROW_FIELDS}`)

/** All fields of the client's PhaseChange. */
export const CHANGE =
  'sequence objectId kind name path rootId projectName machine from to actor by reason message jobId revision rejected at'

export const FAILURES = gql(`query Failures($first: Int!, $failed: ObjectFilter!, $undone: PhaseChangeFilter!) {
  objects(filter: $failed, orderBy: { field: PHASE_SINCE, direction: DESC }, first: $first) {
    totalCount edges { node { ...RowFields path } }
  }
  phaseChanges(filter: $undone, last: $first) { edges { node { ${CHANGE} } } }
}\n${ROW_FIELDS}`)

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
