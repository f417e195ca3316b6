import { REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'

const LISTED =
  'id name principal { id name } role actor types targets projects createdAt lastUsedAt expiresAt revokedAt'

export const LIST_TOKENS = gql(`query ListTokens($filter: TokenFilter!, $first: Int!, $after: String) {
  tokensConnection(filter: $filter, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { ${LISTED} } }
  }
}`)
export type ListedToken = NonNullable<ResultOf<typeof LIST_TOKENS>['tokensConnection']>['edges'][number]['node']

export const TOKEN_BY_ID = gql('query TokenById($id: ID!) { node(id: $id) { ... on Token { id name } } }')

export const CREATE_TOKEN = gql(`mutation CreateToken($input: CreateTokenInput!) {
  answer: createToken(input: $input) { __typename ... on CreatedToken { secret token { ${LISTED} } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

export const REVOKE_TOKEN = gql(`mutation RevokeToken($input: RevokeTokenInput!) {
  answer: revokeToken(input: $input) { __typename ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
