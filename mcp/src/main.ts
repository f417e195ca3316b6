#!/usr/bin/env node
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ClientError, createClient } from 'phaseline/client'
import packageJson from '../package.json' with { type: 'json' }
import { gql } from './gql.ts'
import { createHttp } from './http.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { Plans } from './plans.ts'
import { createServer } from './server.ts'

/** Stdout is the protocol's: everything for people goes to stderr. */
const say = (line: string) => process.stderr.write(`${line}\n`)
const { version } = packageJson

try {
  const options = readOptions(process.argv.slice(2), process.env)
  if (options === 'help') process.stdout.write(USAGE)
  else if (options === 'version') process.stdout.write(`${version}\n`)
  else await (options.http ? serveHttp(options, options.http) : serveStdio(options))
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 2
}

function open({ url, isApproved }: Options, token: string, plans: Plans | null) {
  const client = createClient({ url, token })
  const server = createServer({ client, version, isApproved, plans })
  return { server, close: () => client.close() }
}

async function serveStdio(options: Options): Promise<void> {
  const { bounds, token } = options
  const { server, close } = open(options, token, bounds && new Plans(bounds))
  server.server.onclose = () => void close()
  await server.connect(new StdioServerTransport())
  // The client has ended.
  process.stdin.on('close', () => void server.close())
}

const VIEWER = gql('query McpViewer { viewer { id } }')

async function openSession(options: Options, token: string, plansOf: (token: string) => Plans | null) {
  await using client = createClient({ url: options.url, token })
  try {
    await client.query(VIEWER)
  } catch (error) {
    if (error instanceof ClientError && error.kind === 'unauthorized') return null
    throw error
  }
  return open(options, token, plansOf(token))
}

async function serveHttp(options: Options, { port, host, allowedHosts }: NonNullable<Options['http']>): Promise<void> {
  // Shared by all sessions of a token, so that another session does not begin to count anew.
  const plans = new Map<string, Plans>()
  const plansOf = (token: string): Plans | null => {
    const kept = plans.get(token) ?? (options.bounds && new Plans(options.bounds))
    if (kept) plans.set(token, kept)
    return kept
  }
  const http = createHttp({ allowedHosts, open: (token) => openSession(options, token, plansOf) })
  http.listen(port, host)
  await once(http, 'listening')
  const { address, port: bound, family } = http.address() as AddressInfo
  say(`MCP at http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/mcp`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      http.close()
      http.closeAllConnections()
    })
}
