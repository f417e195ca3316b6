import { GraphQLError } from 'graphql'
import type { CursorExpired } from '../core/ports.ts'

/** Top-level errors that are meant for the caller. All others are bugs, and are told as such without a detail. */

export const cursorExpired = ({ message, oldest, head }: CursorExpired): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'CURSOR_EXPIRED', oldest, head } })

export const notFoundFailure = (id: string): GraphQLError =>
  new GraphQLError(`There is no object ${id} that you may read.`, { extensions: { code: 'NOT_FOUND' } })

export const forbiddenFailure = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'FORBIDDEN' } })

export const internalFailure = (): GraphQLError =>
  new GraphQLError('Something went wrong on the server; its log says more.', {
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  })
