import { gql } from './gql.ts'

/** The documents of the page to explore the API. */
export const NEWEST_ID = gql(`query NewestId($kind: ObjectKind!) {
  objects(filter: { kinds: [$kind] }, orderBy: { field: CREATED_AT, direction: DESC }, first: 1) { edges { node { id } } }
}`)
