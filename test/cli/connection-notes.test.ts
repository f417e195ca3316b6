import { expect, test } from 'vitest'
import { withSession } from '../../src/cli/session.ts'
import { EXIT } from '../../src/cli/terminal/exit.ts'
import { createClient } from '../../src/client/index.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import { startTinyServer } from '../client/tiny-server.ts'
import { until } from '../testkit/wait.ts'

const TICKS = 'subscription { ticks }' as string & TypedDocument<{ ticks: number }, Record<string, never>>

test('a stream says once that the server is lost, and once that it is back; its own end is no loss', async () => {
  let tick = 0
  let last = false
  async function* ticks() {
    while (!last) {
      tick += 1
      yield { ticks: tick }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  const options = {
    sdl: 'type Query { x: Int } type Subscription { ticks: Int }',
    rootValue: { ticks },
    token: 'secret',
  }
  let server = await startTinyServer(options)
  const { port, url } = server
  let [out, err] = ['', '']
  const io = {
    stdout: { write: (text: string | Uint8Array) => (out += String(text)) },
    stderr: { write: (text: string | Uint8Array) => (err += String(text)) },
    stdin: { async *[Symbol.asyncIterator]() {} },
    env: { PHASELINE_TOKEN: 'secret', PHASELINE_URL: url },
    signal: new AbortController().signal,
  }
  const lines: string[] = []
  const code = await withSession(io, { json: true }, async ({ client, notes }) => {
    using _ = notes.listen(() => lines.push(err))
    const following = (async () => {
      for await (const { ticks: n } of client.subscribe(TICKS, {})) tick = n
    })()
    await until(() => tick > 3, { what: 'it streams' })
    await server[Symbol.asyncDispose]()
    await until(() => lines.length > 0, { what: 'the loss is told' })
    expect(err).toBe('The server does not answer: trying again.\n')
    server = await startTinyServer({ ...options, port })
    await until(() => lines.length > 1, { what: 'the return is told' })
    expect(err).toBe('The server does not answer: trying again.\nThe server answers again.\n')
    last = true
    await following
    return EXIT.ok
  })
  expect(code).toBe(EXIT.ok)
  expect(out).toBe('')
  expect(lines).toHaveLength(2)
  await server[Symbol.asyncDispose]()
})

test('the client says of a socket who has closed it', async () => {
  async function* ticks() {
    yield { ticks: 1 }
  }
  const sdl = 'type Query { x: Int } type Subscription { ticks: Int }'
  await using server = await startTinyServer({ sdl, rootValue: { ticks }, token: 'secret' })
  const states: string[] = []
  await using client = createClient({ url: server.url, token: 'secret', onConnection: (state) => states.push(state) })
  for await (const _ of client.subscribe(TICKS, {})) expect(states).toEqual(['connected'])
  await until(() => states.length > 1, { what: 'the socket is closed' })
  expect(states).toEqual(['connected', 'closed'])
})
