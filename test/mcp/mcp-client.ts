import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { type CallToolResult, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { type Bounds, Plans } from '../../mcp/src/plans.ts'
import { createServer } from '../../mcp/src/server.ts'
import { createClient } from '../../src/client/index.ts'

/** The SDK's own client, and what a test needs of an answer. */

export interface Told {
  readonly text: string
  readonly data: Readonly<Record<string, unknown>>
  readonly isError: boolean
  /** The length of the answer as the client gets it. */
  readonly bytes: number
}
export interface Tools extends AsyncDisposable {
  readonly client: McpClient
  call(name: string, input?: object): Promise<Told>
}

/** @param answer of the person who is asked to approve; without it, the client cannot ask one */
export async function connect(transport: Transport, answer?: 'accept' | 'decline'): Promise<Tools> {
  const client = new McpClient({ name: 'test', version: '1' }, { capabilities: answer ? { elicitation: {} } : {} })
  if (answer) client.setRequestHandler(ElicitRequestSchema, () => ({ action: answer }))
  await client.connect(transport)
  return {
    client,
    async call(name, input = {}) {
      const result = (await client.callTool({ name, arguments: { ...input } })) as CallToolResult
      const [first] = result.content
      return {
        text: first?.type === 'text' ? first.text : '',
        data: result.structuredContent ?? {},
        isError: result.isError === true,
        bytes: Buffer.byteLength(JSON.stringify(result)),
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

export interface InProcess {
  readonly bounds?: Bounds
  readonly answer?: 'accept' | 'decline'
  /** True: a person has to approve. */
  readonly isApproved?: boolean
}

/** A server in the process of the test, over the API at this address. */
export async function openTools(url: string, token: string, options: InProcess = {}): Promise<Tools> {
  const { bounds, answer, isApproved = false } = options
  const client = createClient({ url, token })
  const server = createServer({ client, version: '0', plans: bounds ? new Plans(bounds) : null, isApproved })
  const [there, here] = InMemoryTransport.createLinkedPair()
  await server.connect(there)
  const tools = await connect(here, answer)
  return {
    ...tools,
    async [Symbol.asyncDispose]() {
      await tools.client.close()
      await client.close()
    },
  }
}

export const SOURCE = new URL('../testkit/source.ts', import.meta.url).href
export const MAIN = new URL('../../mcp/src/main.ts', import.meta.url).pathname

/** A server as a process of its own. */
export const stdio = (args: readonly string[], env: Readonly<Record<string, string>>): StdioClientTransport =>
  new StdioClientTransport({ command: process.execPath, args: ['--import', SOURCE, MAIN, ...args], env: { ...env } })
