import { CHANGE } from './documents.ts'
import { gql } from './gql.ts'

/** The operations behind what was: timelines, time travel, and ways through machines. */

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

export const NEXT = gql(`query Next($id: ID!) {
  object(id: $id) { id kind name phase root { id name } allowedTransitions { machine from actor to reason } }
}`)

/** Only that there is something new: who looks at one object asks for it. */
export const UPDATES = gql(`subscription Updates($rootId: ID!, $kinds: [ObjectKind!]) {
  objectUpdates(rootId: $rootId, kinds: $kinds) { objectId revision }
}`)
