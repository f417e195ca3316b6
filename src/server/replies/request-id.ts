import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

const HEADER = 'x-request-id'
const SANE = /^[\w.:+/=-]{1,128}$/

/** The id that the client or a proxy has given the request; one of our own, if there is none that could be logged. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers[HEADER]
  return typeof given === 'string' && SANE.test(given) ? given : randomUUID()
}

/** Answers with the id of the request. */
export function nameRequest(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader(HEADER, requestIdOf(request))
}
export const requestIdIn = (response: ServerResponse): string => String(response.getHeader(HEADER))
