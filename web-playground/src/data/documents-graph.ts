import { gql } from './gql.ts'

/** The documents of the graph of a tree. */

export const WORK_FACTS = gql(`query WorkFacts($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on TreeObject { id progress { step value total unit } }
    ... on WorkObject { maxAttempts attempts { number begunAt finalBy } }
  }
}`)

export const TREE_LABELS = gql(`query TreeLabels($rootId: ID!, $first: Int!, $after: String) {
  tree(rootId: $rootId) {
    objects(first: $first, after: $after) {
      pageInfo { hasNextPage endCursor }
      edges { node { id labels { key value } } }
    }
  }
}`)
