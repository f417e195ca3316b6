import { gql } from './gql.ts'

/** The shared parts of the forms' documents. */

export const REFUSAL = `fragment Refusal on Error {
  code message
  ... on InvalidInputError { fields { path message } }
  ... on ConflictError { object { id kind name phase root { id } } }
}`
/** The end of a mutation that creates or updates one object. */
export const CREATED = `{ __typename ... on TreeObject { id name kind root { id } } ...Refusal } }\n${REFUSAL}` as const

export const VIEWER = gql('query Viewer { viewer { id name role administrator } }')

export const PROJECTS = gql(`query ProjectChoices($after: String) {
  projects(first: 500, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { name workerTemplate { runtime } subscriptions { source types } } }
  }
}`)
