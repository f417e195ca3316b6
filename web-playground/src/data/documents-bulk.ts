import { gql } from './gql.ts'

/** The documents of bulk actions. */

export const ROW_IDS = gql(`query RowIds($filter: ObjectFilter!, $orderBy: ObjectOrder!, $first: Int!, $after: String) {
  objects(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor }
    edges { node { id } }
  }
}`)

export const TARGETS = gql(`query Targets($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on TreeObject {
      id kind name phase finished deletionRequestedAt
      parent { id } root { id } verbs { name allowed obstacle why }
    }
  }
}`)
