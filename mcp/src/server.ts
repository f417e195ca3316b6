import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type Client, ClientError } from 'phaseline/client'
import { ABOUT_QUOTES, quote, toResult, Unanswerable } from './answer.ts'
import { type Plans, writingTools } from './plans.ts'
import type { Tool } from './tool.ts'
import { health } from './tools/health.ts'
import { howItWas } from './tools/how-it-was.ts'
import { runs } from './tools/runs.ts'
import { search } from './tools/search.ts'
import { whatChanged } from './tools/what-changed.ts'
import { whatWouldHappen } from './tools/what-would-happen.ts'
import { why } from './tools/why.ts'

const READING: readonly Tool[] = [health, why, whatChanged, howItWas, whatWouldHappen, search, runs]

export interface ServerOptions {
  readonly client: Client
  readonly version: string
  /** Null: nothing is written. */
  readonly plans: Plans | null
  /** True: a person has to approve each plan, through the client. */
  readonly isApproved: boolean
}

/** The tools over one connection to Phaseline, for one transport. */
export function createServer({ client, version, plans, isApproved }: ServerOptions): McpServer {
  const server = new McpServer({ name: 'phaseline', version }, { instructions: ABOUT_QUOTES })
  const approve = async (question: string): Promise<boolean> => {
    if (!server.server.getClientCapabilities()?.elicitation)
      throw new Unanswerable('Each plan has to be approved by a person, and this client cannot ask one.')
    const message = `Apply this plan: ${question}?`
    const { action } = await server.server.elicitInput({ message, requestedSchema: { type: 'object', properties: {} } })
    return action === 'accept'
  }
  const writing = plans ? writingTools(plans, isApproved ? approve : null) : []
  for (const { name, title, description, input, run } of [...READING, ...writing]) {
    const isApply = name === 'apply'
    const annotations = { readOnlyHint: !isApply, destructiveHint: isApply, idempotentHint: true, openWorldHint: false }
    server.registerTool(name, { title, description, inputSchema: input, annotations }, (given, { signal }) =>
      answering(async () => toResult(await run(given, { client, signal, now: Date.now() }))),
    )
  }
  return server
}

/** Expected outcomes are answers of the tool, so that a model can correct what it has asked. */
async function answering(answer: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof Unanswerable) return failed(error.message)
    if (error instanceof ClientError) return failed(`${error.code ?? error.kind}: ${quote(error.message)}`)
    throw error
  }
}
const failed = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })
