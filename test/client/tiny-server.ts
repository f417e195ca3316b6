import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSchema, execute, graphql, subscribe, validate } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'

/** A real HTTP and WebSocket server with a schema of its own, for what a client meets on the wire. */
export interface TinyServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Destroys every open connection; new ones are accepted. */
  cut(): void
  /** How many WebSockets have been opened so far. */
  readonly socketsOpened: number
}
export interface TinyOptions {
  readonly sdl: string
  readonly rootValue: Record<string, NonNullable<unknown>>
  readonly token: string
  readonly port?: number
  /** Called before and after an HTTP request is executed; true: the connection is destroyed instead. */
  readonly breakOff?: (when: 'before' | 'after', body: string) => boolean
  /** Answers HTTP itself when it returns true. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean
}

export async function startTinyServer(options: TinyOptions): Promise<TinyServer> {
  const { sdl, rootValue, token, breakOff = () => false, answer = () => false } = options
  const schema = buildSchema(sdl)
  const isAllowed = (authorization: unknown): boolean => authorization === `Bearer ${token}`
  let opened = 0

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (answer(request, response)) return
    const body = await readAll(request)
    if (breakOff('before', body)) return void request.socket.destroy()
    if (!isAllowed(request.headers.authorization)) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"errors":[{"message":"Who are you?"}]}')
      return
    }
    const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> }
    const result = await graphql({ schema, source: query, rootValue, variableValues: variables })
    // As the server names what it cannot execute at all.
    if (!('data' in result)) for (const { extensions } of result.errors ?? []) extensions.code ??= 'BAD_USER_INPUT'
    if (breakOff('after', body)) return void request.socket.destroy()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
  }

  const http = createServer((request, response) => void serve(request, response))
  const sockets = new WebSocketServer({ server: http, path: '/graphql' })
  sockets.on('connection', () => {
    opened += 1
  })
  useServer(
    {
      schema,
      roots: { subscription: rootValue, query: rootValue },
      // One instance of the graphql package for all, however it was resolved.
      execute,
      subscribe,
      validate,
      onConnect: ({ connectionParams }) => isAllowed(connectionParams?.authorization),
    },
    sockets,
  )
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  const cut = (): void => {
    for (const socket of sockets.clients) socket.terminate()
    http.closeAllConnections()
  }
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    port,
    cut,
    get socketsOpened() {
      return opened
    },
    async [Symbol.asyncDispose]() {
      cut()
      sockets.close()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
