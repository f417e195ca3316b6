import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../graphql/api.ts'
import { until } from '../testkit/wait.ts'
import { item } from '../testkit/world.ts'
import { connect, MAIN, SOURCE, stdio } from './mcp-client.ts'

/** The server as a process, as clients start and reach it. */

let api: Api
let url: string
beforeAll(async () => {
  api = await createApi()
  ;({ url } = await api.serve())
  await api.world.create('shop', { deployItems: [item('db')] })
})
afterAll(() => api[Symbol.asyncDispose]())

test('over stdio the client of the SDK gets answers, and the process ends with it', async () => {
  const transport = stdio([], { PHASELINE_URL: url, PHASELINE_TOKEN: await api.token() })
  const tools = await connect(transport)
  expect((await tools.call('why', { object: 'shop' })).text).toMatch(/^default\/shop \(installation\) PROGRESSING for /)
  const { pid } = transport
  await tools[Symbol.asyncDispose]()
  await until(() => !isRunning(pid ?? 0), { what: 'the process has ended' })
})
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a process that cannot serve says why on stderr, and ends', async () => {
  expect(await ended(['--write', ''])).toEqual([2, '--write names verbs, such as cancel,retry, or all.\n'])
  expect(await ended([])).toEqual([2, 'There is no token: set PHASELINE_TOKEN, or give --token-file.\n'])
  expect(await ended(['--approve'])).toEqual([2, '--project and --approve are of --write.\n'])
})

async function ended(args: readonly string[]): Promise<readonly [number, string]> {
  const child = start(args)
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = (await once(child, 'close')) as [number]
  return [code, said]
}
const start = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, ['--import', SOURCE, MAIN, ...args], {
    env: { PHASELINE_URL: url },
    stdio: ['ignore', 'ignore', 'pipe'],
  })

test('over HTTP each caller has its own token and session, and a page of another origin has none', async () => {
  const child = start(['--http', '0', '--write', 'pause,resume', '--max', '1'])
  await using _ = {
    async [Symbol.asyncDispose]() {
      child.kill()
      await once(child, 'close')
    },
  }
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const address = () => /MCP at (\S+)\n/.exec(said)?.[1]
  await until(() => address() !== undefined, { what: 'it listens' })
  const endpoint = new URL(address() ?? '')
  const open = (token: string) =>
    new StreamableHTTPClientTransport(endpoint, { requestInit: { headers: { authorization: `Bearer ${token}` } } })

  const token = await api.token({ name: 'ann' })
  const transport = open(token)
  await using tools = await connect(transport as Parameters<typeof connect>[0])
  expect((await tools.call('why', { object: 'shop' })).text).toContain('default/shop')
  // All sessions of a token share its count.
  await using again = await connect(open(token) as Parameters<typeof connect>[0])
  for (const [session, verb, isError] of [
    [tools, 'pause', false],
    [again, 'resume', true],
  ] as const) {
    const { plan } = (await session.call('plan', { verb, object: 'shop' })).data
    expect(await session.call('apply', { plan })).toMatchObject({ isError })
  }
  const foreign = await api.token({ name: 'eve', role: 'READER', projects: ['elsewhere'] })
  await using other = await connect(open(foreign) as Parameters<typeof connect>[0])
  expect(await other.call('why', { object: 'shop' })).toMatchObject({ isError: true })

  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const post = async (headers: Readonly<Record<string, string>>) => {
    const accept = 'application/json, text/event-stream'
    const all = { accept, 'content-type': 'application/json', ...headers }
    const response = await fetch(endpoint, { method: 'POST', headers: all, body: JSON.stringify(call) })
    await response.body?.cancel()
    return response.status
  }
  const session = transport.sessionId ?? ''
  const own = { authorization: `Bearer ${token}`, 'mcp-session-id': session }
  expect(await post(own)).toBe(200)
  // The session of another one, no token, a wrong one, a page of another origin.
  expect(await post({ ...own, authorization: `Bearer ${foreign}` })).toBe(404)
  expect(await post({})).toBe(401)
  expect(await post({ authorization: 'Bearer wrong' })).toBe(401)
  expect(await post({ ...own, origin: 'https://evil.example' })).toBe(403)
})
