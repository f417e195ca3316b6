import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import { REFUSAL_FRAGMENT } from '../objects/refusal.ts'

const LISTED = 'id name role actor types targets projects createdAt lastUsedAt expiresAt revokedAt'

export const LIST_TOKENS = gql(`query ListTokens { tokens { ${LISTED} } }`)
export type ListedToken = NonNullable<ResultOf<typeof LIST_TOKENS>['tokens']>[number]

export const CREATE_TOKEN = gql(`mutation CreateToken($input: CreateTokenInput!) {
  answer: createToken(input: $input) { __typename ... on CreatedToken { secret token { ${LISTED} } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

export const REVOKE_TOKEN = gql(`mutation RevokeToken($input: RevokeTokenInput!) {
  answer: revokeToken(input: $input) { __typename ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
