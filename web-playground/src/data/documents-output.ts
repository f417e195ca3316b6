import { gql } from './gql.ts'

export const OUTPUT_PAGE =
  gql(`query OutputPage($filter: OutputFilter!, $first: Int, $last: Int, $after: String, $before: String) {
  output(filter: $filter, first: $first, last: $last, after: $after, before: $before) {
    edges { cursor node { at stream text objectId object { name path root { id } } } }
    pageInfo { hasPreviousPage hasNextPage startCursor endCursor }
  }
}`)
/** The end of all output. */
export const OUTPUT_END = gql('query OutputEnd { output(last: 1) { edges { cursor } pageInfo { endCursor } } }')
export const OUTPUT_LIVE = gql(`subscription OutputLive($filter: OutputFilter!, $after: String) {
  output(filter: $filter, after: $after) { cursor at stream text objectId object { name path root { id } } }
}`)
/** The subject of the page. */
export const OUTPUT_OF = gql('query OutputOf($id: ID!) { object(id: $id) { name path root { id } } }')
