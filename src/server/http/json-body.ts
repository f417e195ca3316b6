import type { ServerResponse } from 'node:http'
import type { FailureCode } from '../../core/vocabulary.ts'
import { JSON_TYPE } from '../endpoints/endpoints.ts'
import { replyError } from '../replies/reply.ts'

/** The type that a request with a body must declare; other types can be sent by any page's form. */

/** In UTF-8, named or not; other parameters mean nothing. */
export const isJson = (type: string): boolean =>
  /^application\/json\s*(;|$)/i.test(type) &&
  type.matchAll(/;\s*charset="?([^\s;"]*)/gi).every(([, charset = '']) => /^utf-?8$/i.test(charset))

/** A request that is refused before it is read. */
export interface Refused {
  readonly status: number
  readonly code: FailureCode
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

export const NEEDS_JSON: Refused = {
  status: 415,
  code: 'UNSUPPORTED_MEDIA_TYPE',
  message: `The content type must be ${JSON_TYPE}, in UTF-8.`,
  headers: { 'accept-post': `${JSON_TYPE}; charset=utf-8` },
}

export function replyRefusal(response: ServerResponse, { status, code, message, headers = {} }: Refused): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  replyError(response, status, code, message)
}
