import type { IncomingMessage, ServerResponse } from 'node:http'

/** Seconds for which a browser need not ask again. */
const MAX_AGE = '7200'

/**
 * Lets a page of another origin read the response. The browser adds no credentials of its own: pages send their token in a
 * header. True: the request is the browser's question beforehand, and is answered.
 */
export function grantOrigin({ method, headers }: IncomingMessage, response: ServerResponse, origin: string): boolean {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('vary', 'origin')
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'authorization, content-type, traceparent, tracestate',
    'access-control-max-age': MAX_AGE,
  })
  response.end()
  return true
}
