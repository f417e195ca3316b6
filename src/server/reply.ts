import type { ServerResponse } from 'node:http'

/** Plain answers, and the headers that every answer carries. */

export function protect(response: ServerResponse): void {
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
}

/** With its length, so that it is not sent in chunks, of which the reader has to wait for the last. */
export function reply(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}

export function replyText(response: ServerResponse, status: number, text: string): void {
  reply(response, status, 'text/plain; charset=utf-8', `${text}\n`)
}

/** An error as GraphQL clients expect it. */
export function replyError(response: ServerResponse, status: number, code: string, message: string): void {
  const body = JSON.stringify({ errors: [{ message, extensions: { code } }] })
  reply(response, status, 'application/json; charset=utf-8', body)
}
