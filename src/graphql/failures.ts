import { GraphQLError } from 'graphql'
import { CursorExpired } from '../core/ports.ts'

/** Top-level errors that are meant for the caller. All others are bugs, and are told as such without a detail. */

export const cursorExpired = ({ message, oldest, head }: CursorExpired): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'CURSOR_EXPIRED', oldest, head } })

/** For a promise's `catch`: what a reader is told when its cursor is expired; anything else is thrown as it is. */
export function tellExpired(error: unknown): never {
  throw error instanceof CursorExpired ? cursorExpired(error) : error
}

export const notFoundFailure = (id: string): GraphQLError =>
  new GraphQLError(`There is no object ${id} that you may read.`, { extensions: { code: 'NOT_FOUND' } })

export const forbiddenFailure = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'FORBIDDEN' } })

export const internalFailure = (): GraphQLError =>
  new GraphQLError('Something went wrong on the server; its log says more.', {
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  })
