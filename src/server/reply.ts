import type { ServerResponse } from 'node:http'

/** Plain answers, and the headers that every answer carries. */

export function protect(response: ServerResponse): void {
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
}

export function replyText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}

/** An error as GraphQL clients expect it. */
export function replyError(response: ServerResponse, status: number, code: string, message: string): void {
  const body = JSON.stringify({ errors: [{ message, extensions: { code } }] })
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(body)
}
