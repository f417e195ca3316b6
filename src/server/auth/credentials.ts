import type { IncomingHttpHeaders } from 'node:http'
import { BEARER } from '../../core/bearer.ts'
import { sealedIn, tokenBehind } from './sign-in-cookie.ts'

/** The secret of `Authorization: Bearer …`; null when it is missing or malformed. */
export const bearerOf = (authorization: unknown): string | null =>
  typeof authorization === 'string' ? (BEARER.exec(authorization)?.[1] ?? null) : null

/** On HTTP only this header counts: a page of another origin cannot set it. A page key in it has its token in a cookie. */
export const secretOf = (headers: IncomingHttpHeaders): string | null =>
  tokenBehind(bearerOf(headers.authorization), () => sealedIn(headers))

/**
 * The `authorization` in the payload of a WebSocket message, at its top or in its `headers`, in any case; undefined:
 * none. Clients differ in where they put it.
 */
export function authorizationIn(payload: unknown): unknown {
  const given = entriesOf(payload)
  const headers = given.filter(([name]) => name.toLowerCase() === 'headers').flatMap(([, value]) => entriesOf(value))
  return [...given, ...headers].find(([name]) => name.toLowerCase() === 'authorization')?.[1]
}
const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

/** The request has no token. */
export const TOKEN_MISSING =
  'A token is required: send it as Authorization: Bearer …, on WebSockets as {"authorization": "Bearer …"} in connection_init.'
/** The server does not accept the token. The message does not reveal why. */
export const TOKEN_WRONG = 'This token is not known, expired or revoked: send another one.'
