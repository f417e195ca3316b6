import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { requireDescribed } from '../testkit/described.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  json(): any
}

/** One request with exactly these headers: fetch would not let a test choose Host and Origin. The answer must be one of openapi.json. */
export function call(
  port: number,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const { statusCode: status = 0, headers: got } = response
        try {
          requireDescribed(method, path, { status, type: got['content-type'], body: text })
          resolve({ status, headers: got, body: text, json: () => JSON.parse(text) })
        } catch (error) {
          reject(error)
        }
      })
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

export const post = (
  port: number,
  token: string | null,
  query: string,
  headers: Record<string, string> = {},
  variables?: object,
) =>
  call(port, '/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
  })

/** A metric of a server, by its name and its first labels; all series of it together. */
export async function metric({ port }: { readonly port: number }, token: string, name: string): Promise<number> {
  const { body } = await call(port, '/metrics', { headers: { authorization: `Bearer ${token}` } })
  const values = body
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name.slice(0, -1)},`))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))))
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0)
}
/** How many clients a server has refused for a reason, and where it is given, because of whose share. */
export const refusals = (
  server: { readonly port: number },
  token: string,
  reason: string,
  share?: string,
): Promise<number> =>
  metric(server, token, `phaseline_refusals_total{reason="${reason}"${share === undefined ? '' : `,share="${share}"`}}`)

export const PING = JSON.stringify({ type: 'ping' })

/** All messages arrive at once, so that the server cannot wait before it reads the rest. */
function inOnePiece(socket: WebSocket, send: () => void): void {
  const { _socket: stream } = socket as unknown as { readonly _socket: Socket }
  stream.cork()
  send()
  stream.uncork()
}

/** Two hundred pings on each socket: together they arrive faster than their turns come. Returns how those ended that did not get all answers. */
export async function flood(
  sockets: readonly WebSocket[],
): Promise<readonly (readonly [code: number, reason: string])[]> {
  const MESSAGES = 200
  const ends = sockets.map(async (socket) => {
    const answers = async (): Promise<null> => {
      for (let i = 0; i < MESSAGES; i++) await once(socket, 'message')
      return null
    }
    const closed = once(socket, 'close').then(([code, reason]) => [Number(code), String(reason)] as const)
    return await Promise.race([answers(), closed])
  })
  for (const socket of sockets)
    inOnePiece(socket, () => {
      for (let i = 0; i < MESSAGES; i++) socket.send(PING)
    })
  return (await Promise.all(ends)).filter((end) => end !== null)
}
