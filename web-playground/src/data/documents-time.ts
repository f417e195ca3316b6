import { CHANGE } from './documents.ts'
import { gql } from './gql.ts'

/** The documents of timelines, time travel, and paths through machines. */

export const CHANGES = gql(`query Changes($filter: PhaseChangeFilter!, $last: Int!, $before: String) {
  phaseChanges(filter: $filter, last: $last, before: $before) {
    pageInfo { hasPreviousPage startCursor }
    edges { node { ${CHANGE} } }
  }
}`)

export const TREE_AT = gql(`query TreeAt($rootId: ID!, $sequence: Sequence!) {
  treeAt(rootId: $rootId, sequence: $sequence) {
    objects { objectId parentId kind name phase phaseSince revision }
  }
}`)

export const SEQUENCE_AT = gql(`query SequenceAt($rootId: ID!, $time: DateTime!) {
  treeAt(rootId: $rootId, time: $time) { sequence }
}`)

export const NEXT = gql(`query Next($id: ID!) {
  object(id: $id) { id kind name phase root { id name } allowedTransitions { machine from actor to reason } }
}`)

/** Only signals news: the details of an object are a query. */
export const UPDATES = gql(`subscription Updates($rootId: ID!, $kinds: [ObjectKind!]) {
  objectUpdates(rootId: $rootId, kinds: $kinds) { objectId revision }
}`)
