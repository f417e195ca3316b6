import type { ObjectParam } from '@pothos/core'
import type { ObjectRow } from '../core/tree.ts'
import { builder, type Types } from './builder.ts'

/**
 * `<Name>Result`: what a mutation returns, or why it was refused. Its members are told apart by `__typename`; an object
 * of a tree by its kind.
 */
export function resultUnion<Members extends ObjectParam<Types>>(name: string, members: Members[]) {
  return builder.unionType(name, {
    types: members,
    resolveType: (value, { kinds }) => {
      const { __typename, kind } = value as { readonly __typename?: string } & Pick<ObjectRow, 'kind'>
      return (__typename ?? kinds.typenameOf(kind)) as never
    },
  })
}
