import { gql } from './gql.ts'

/** The documents of bulk operations. */

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
      project { name } parent { id } root { id } verbs { name allowed obstacle why }
    }
  }
}`)

export const CREATE = gql(`mutation CreateBulk($input: CreateBulkOperationInput!) {
  answer: createBulkOperation(input: $input) { __typename ... on BulkOperation { id } ... on Error { code message } }
}`)

export const OPERATIONS = gql(`query BulkOperations($ids: [ID!]!, $first: Int!) {
  nodes(ids: $ids) {
    ... on BulkOperation {
      id name finished verb project { name } verbs { name allowed }
      counts { all waiting done unchanged refused forbidden gone cancelled }
      outcomes(only: [REFUSED, FORBIDDEN], first: $first) { edges { node {
        targetId targetKind targetName code message object { root { id } }
      } } }
    }
  }
}`)

export const OUTCOME_IDS = gql(`query OutcomeIds($id: ID!, $only: [BulkOutcome!], $first: Int!, $after: String) {
  object(id: $id) { ... on BulkOperation { outcomes(only: $only, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { targetId } }
  } } }
}`)
