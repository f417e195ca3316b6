import { gql } from './gql.ts'

const LISTED =
  'id name role actor types targets projects createdAt lastUsedAt expiresAt revokedAt principal { builtIn }'

export const TOKENS = gql(`query Tokens($after: String) {
  tokensConnection(first: 500, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { ${LISTED} } }
  }
}`)
export const CREATE_TOKEN = gql(`mutation CreateToken($input: CreateTokenInput!) {
  answer: createToken(input: $input) {
    __typename ... on CreatedToken { secret token { id name } }
    ... on Error { code message } ... on InvalidInputError { fields { path message } }
  }
}`)
