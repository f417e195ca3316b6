import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

/**
 * MCP over HTTP. Each caller sends its own token of Phaseline, so this server holds none, and nobody gets more than its token gives. A
 * session belongs to the token that has opened it.
 */

interface Session {
  readonly transport: StreamableHTTPServerTransport
  readonly owner: Buffer
  usedAt: number
}
interface Opened {
  readonly server: McpServer
  close(): Promise<void>
}
export interface HttpOptions {
  /** The server of a session, and what ends with it. Null: the token is refused. */
  open(token: string): Promise<Opened | null>
  /** Names by which callers reach it, besides loopback. */
  readonly allowedHosts: readonly string[]
}

const SESSIONS = 100
const IDLE_MS = 30 * 60_000

export function createHttp({ open, allowedHosts }: HttpOptions): Server {
  const sessions = new Map<string, Session>()
  const server = createHttpServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      if (!response.headersSent) refuse(response, 500, 'The request has failed.')
      else response.destroy()
    })
  })
  server.on('close', () => {
    for (const { transport } of sessions.values()) void transport.close()
  })
  return server

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (new URL(request.url ?? '/', 'http://_').pathname !== '/mcp')
      return refuse(response, 404, 'The endpoint is /mcp.')
    if (!isAllowed(request, allowedHosts))
      return refuse(response, 403, 'This name or page may not call: --allow-host names it.')
    const [, token] = /^Bearer ([\x21-\x7e]{1,8192})$/i.exec(request.headers.authorization ?? '') ?? []
    if (token === undefined) {
      response.setHeader('www-authenticate', 'Bearer')
      return refuse(response, 401, 'Send a token of Phaseline: Authorization: Bearer …')
    }
    const owner = createHash('sha256').update(token).digest()
    const id = request.headers['mcp-session-id']
    const session = typeof id === 'string' ? sessions.get(id) : undefined
    // The session of somebody else is as one that is not there.
    if (id !== undefined && !(session && timingSafeEqual(session.owner, owner)))
      return refuse(response, 404, 'There is no such session.')
    if (session) session.usedAt = Date.now()
    if (session) return await session.transport.handleRequest(request, response)
    await endIdle()
    if (sessions.size >= SESSIONS) return refuse(response, 503, 'There are too many sessions: close one.')
    const opened = await open(token)
    if (!opened) return refuse(response, 401, 'Phaseline refuses the token.')
    await (await begin(opened, owner)).handleRequest(request, response)
  }

  async function endIdle(): Promise<void> {
    for (const { usedAt, transport } of sessions.values()) if (usedAt < Date.now() - IDLE_MS) await transport.close()
  }

  async function begin({ server: mcp, close }: Opened, owner: Buffer): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { transport, owner, usedAt: Date.now() }),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    transport.onclose = () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId)
      void close()
    }
    await mcp.connect(transport as Parameters<typeof mcp.connect>[0])
    return transport
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }))
}

/** A page that has rebound its name to this machine sends that name, and a page of another origin its origin. */
function isAllowed({ headers: { host = '', origin } }: IncomingMessage, allowed: readonly string[]): boolean {
  const isKnown = (address: string): boolean => {
    const name = URL.parse(address)?.hostname.replace(/^\[|\]$/g, '') ?? ''
    return name === 'localhost' || isIP(name) > 0 || allowed.includes(name)
  }
  return isKnown(`http://${host}`) && (origin === undefined || isKnown(origin))
}
