import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'

/** How a caller of `abuse` asks: over HTTP, and over sockets with subscriptions. */

export interface Door {
  readonly port: number
  readonly token: string
}
export interface Answer<T> {
  readonly data: T | null
  /** Null: there is no error. */
  readonly code: string | null
}
interface Sent {
  readonly data?: unknown
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[]
}
export type Variables = Readonly<Record<string, unknown>>

/** Requests and subscriptions of this process, and those of them that were refused. */
export const asked = { times: 0, refused: 0 }

const answerOf = <T>({ data, errors }: Sent): Answer<T> => {
  const [error] = errors ?? []
  if (error) asked.refused += 1
  return { data: (data ?? null) as T | null, code: error ? (error.extensions?.code ?? error.message) : null }
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

export function ask<T>({ port, token }: Door, query: string, variables: Variables = {}): Promise<Answer<T>> {
  asked.times += 1
  const body = JSON.stringify({ query, variables })
  const headers = {
    ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    'content-length': Buffer.byteLength(body),
  }
  return new Promise((resolve, reject) => {
    request({ agent, host: '127.0.0.1', port, path: '/graphql', method: 'POST', headers }, (response) => {
      text(response).then((received) => resolve(answerOf(JSON.parse(received) as Sent)), reject)
    })
      .on('error', reject)
      .end(body)
  })
}

/** A socket whose token is accepted. */
export class LiveSocket {
  readonly #socket: WebSocket
  readonly #listeners = new Map<string, (answer: Answer<unknown>) => void>()
  readonly closed: Promise<unknown>
  #ids = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    this.closed = once(socket, 'close')
    socket.on('message', (data: Buffer) => this.#receive(data))
  }

  static async open({ port, token }: Door): Promise<LiveSocket> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws')
    socket.on('error', () => {})
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
    await once(socket, 'message')
    return new LiveSocket(socket)
  }

  /** Calls back with each event, or with the error that refuses it. */
  subscribe(query: string, variables: Variables, listener: (answer: Answer<unknown>) => void = () => {}): void {
    asked.times += 1
    this.#ids += 1
    const id = String(this.#ids)
    this.#listeners.set(id, listener)
    this.#socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query, variables } }))
  }

  close(): void {
    this.#socket.close()
  }

  #receive(data: Buffer): void {
    // Events of an attack are many, and nobody reads them.
    const { id, type, payload } = JSON.parse(String(data)) as { id?: string; type: string; payload?: unknown }
    const listener = id === undefined ? undefined : this.#listeners.get(id)
    if (type === 'next') listener?.(answerOf(payload as Sent))
    if (type === 'error') listener?.(answerOf({ errors: payload as NonNullable<Sent['errors']> }))
  }
}

const CREATE = `mutation ($input: CreateInstallationInput!) {
  created: createInstallation(input: $input) { __typename ... on Installation { id } ... on Error { message } }
}`
let created = 0

/** Creates a root with one item, and returns its id; null if that was refused. */
export async function createRoot(door: Door, config: Variables = {}, type = 'mock'): Promise<string | null> {
  created += 1
  const spec = { deployItems: [{ name: 'item', type, config }] }
  const input = { name: `of-${process.pid}-${created}`, spec }
  const { data } = await ask<{ created: { id?: string } }>(door, CREATE, { input })
  if (data && data.created.id === undefined) asked.refused += 1
  return data?.created.id ?? null
}
