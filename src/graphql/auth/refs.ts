import type { PrincipalRow } from '../../store/principals.ts'
import type { TokenRow } from '../../store/tokens.ts'
import { builder } from '../schema/builder.ts'

/** A member of a result union is known by its `__typename`. */
export type PrincipalValue = PrincipalRow & { readonly __typename: 'Principal' }

/** Declares both types, so that they can refer to each other. */
export const PrincipalRef = builder.objectRef<PrincipalValue>('Principal')
export const TokenRef = builder.objectRef<TokenRow>('Token')

export const PrincipalConnection = builder.connectionObject({ name: 'PrincipalConnection', type: PrincipalRef }, {})
export const TokenConnection = builder.connectionObject({ name: 'TokenConnection', type: TokenRef }, {})

export const brand = (row: PrincipalRow): PrincipalValue => ({ ...row, __typename: 'Principal' })
