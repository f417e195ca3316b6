import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApi } from '../graphql/api.ts'
import { openBrowser } from '../testkit/browser.ts'

/** Pages of other origins, in a real browser: what it lets them read is what the server grants. */

const stack = new AsyncDisposableStack()
let browser: Browser
let url: string
let token: string
const origins: string[] = []
beforeAll(async () => {
  browser = await openBrowser()
  for (const server of [await servePage(), await servePage()]) {
    stack.defer(() => void server.close())
    origins.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }
  const api = stack.use(await createApi())
  const [allowed = ''] = origins
  url = `${(await api.serve({ allowedOrigins: [allowed] })).url}/graphql`
  token = await api.token()
})
afterAll(() => stack.disposeAsync())

async function servePage(): Promise<Server> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>Another page</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

test.each([
  ['an allowed one', 0, true],
  ['any other', 1, false],
])('a page of another origin calls over HTTP, SSE and WebSocket: %s', async (_, index, allowed) => {
  const page = await browser.newPage()
  stack.defer(() => page.close())
  await page.goto(origins[index] as string)
  const answers = await page.evaluate(
    async ([endpoint = '', secret = '']) => {
      const call = async (accept: string): Promise<string> => {
        const response = await fetch(endpoint, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept, authorization: `Bearer ${secret}` },
          body: JSON.stringify({ query: '{ viewer { name } }' }),
        })
        return await response.text()
      }
      const socket = new WebSocket(endpoint.replace('http', 'ws'), 'graphql-transport-ws')
      const opened = new Promise<string>((resolve) => {
        socket.onopen = () => resolve('open')
        socket.onerror = () => resolve('failed')
      })
      const answered = await Promise.all(
        ['application/json', 'text/event-stream'].map((accept) => call(accept).catch(() => 'failed')),
      )
      return [...answered, await opened]
    },
    [url, token],
  )
  const name = expect.stringContaining('"name":"ada"')
  expect(answers).toEqual(allowed ? [name, name, 'open'] : ['failed', 'failed', 'failed'])
})
