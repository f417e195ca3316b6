import { describe, expect, it } from 'vitest'
import { type ClientError, createClient } from '../../src/client/index.ts'
import { startTinyServer, type TinyOptions } from './tiny-server.ts'

const TOKEN = 'a-token-that-must-not-show-up'
const tiny = (options: Partial<TinyOptions> = {}) =>
  startTinyServer({
    sdl: 'type Query { twice(n: Int!): Int fail(code: String!): Int never: Int }',
    rootValue: {
      twice: ({ n }: { n: number }) => n * 2,
      fail: ({ code }: { code: string }) => {
        throw Object.assign(new Error('No.'), { extensions: { code, oldest: 3 } })
      },
      never: () => new Promise(() => undefined),
    },
    token: TOKEN,
    ...options,
  })
const problemOf = async (answer: Promise<unknown>): Promise<ClientError> => {
  const error: unknown = await answer.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Error)) throw new Error('it did not fail')
  expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain(TOKEN)
  return error as ClientError
}

describe('query', () => {
  it('answers with the data', async () => {
    await using server = await tiny()
    await using client = createClient({ url: server.url, token: TOKEN })
    expect(await client.query('query ($n: Int!) { twice(n: $n) }', { n: 21 })).toEqual({ twice: 42 })
  })

  it('finds the endpoint of a server that is named by its address alone', async () => {
    await using server = await tiny()
    const { origin } = new URL(server.url)
    const asked: string[] = []
    const noting: typeof fetch = (address, init) => {
      asked.push(String(address))
      return fetch(address, init)
    }
    for (const url of [origin, `${origin}/`, `${origin}/behind/graphql`]) {
      await using client = createClient({ url, token: TOKEN, fetch: noting })
      await client.query('{ __typename }')
    }
    expect(asked).toEqual([`${origin}/graphql`, `${origin}/graphql`, `${origin}/behind/graphql`])
  })

  it.each([
    ['INTERNAL_SERVER_ERROR', 'graphql', true],
    ['BAD_USER_INPUT', 'graphql', false],
    ['UNAUTHENTICATED', 'unauthorized', false],
  ])('tells a %s error', async (code, kind, retryable) => {
    await using server = await tiny()
    await using client = createClient({ url: server.url, token: TOKEN })
    const error = await problemOf(client.query('query ($code: String!) { fail(code: $code) }', { code }))
    expect(error).toMatchObject({ kind, retryable, code, message: 'No.', extensions: { oldest: 3 } })
  })

  it('distinguishes an invalid token, a response that is not GraphQL, and no server', async () => {
    const server = await tiny()
    await using stranger = createClient({ url: server.url, token: 'wrong' })
    expect(await problemOf(stranger.query('{ __typename }'))).toMatchObject({ kind: 'unauthorized', retryable: false })
    await using client = createClient({ url: server.url, token: TOKEN })
    await server[Symbol.asyncDispose]()
    expect(await problemOf(client.query('{ __typename }'))).toMatchObject({ kind: 'network', retryable: true })

    await using html = await tiny({
      answer: (_, response) => {
        response.writeHead(502).end('<html>Bad Gateway</html>')
        return true
      },
    })
    await using lost = createClient({ url: html.url, token: TOKEN })
    expect(await problemOf(lost.query('{ __typename }'))).toMatchObject({ kind: 'http', retryable: true, status: 502 })
  })

  it.each([
    ['of its own', undefined],
    ['that it is given', globalThis.fetch],
  ])('follows no redirect and notices an answer that breaks off, with a transport %s', async (_, fetch) => {
    let asked = 0
    await using server = await tiny({
      answer: (_, response) => {
        asked += 1
        if (asked === 1) response.writeHead(307, { location: '/elsewhere' }).end()
        else response.writeHead(200, { 'content-length': 100 }).write('{"data":', () => response.destroy())
        return true
      },
    })
    await using client = createClient({ url: server.url, token: TOKEN, ...(fetch ? { fetch } : {}) })
    expect((await problemOf(client.query('{ __typename }'))).kind).not.toBe('graphql')
    expect(asked).toBe(1)
    expect(await problemOf(client.query('{ __typename }'))).toMatchObject({ kind: 'network', retryable: true })
    expect(asked).toBe(2)
  })

  it('is refused once its client is closed, and ends when it is closed', async () => {
    await using server = await tiny()
    const client = createClient({ url: server.url, token: TOKEN })
    const answer = problemOf(client.query('{ never }'))
    await client.close()
    expect(await answer).toMatchObject({ kind: 'network', retryable: false })
    expect(await problemOf(client.query('{ __typename }'))).toMatchObject({ kind: 'network', retryable: false })
  })

  it('ends with the reason of the signal, or as a network error after its time', async () => {
    await using server = await tiny()
    await using client = createClient({ url: server.url, token: TOKEN, timeoutMs: 50 })
    const reason = new Error('enough')
    const stop = new AbortController()
    const answer = client.query('{ never }', {}, { signal: stop.signal })
    stop.abort(reason)
    expect(await problemOf(answer)).toBe(reason)
    expect(await problemOf(client.query('{ never }'))).toMatchObject({ kind: 'network', retryable: true })
  })

  it.each([2 ** 31, Number.POSITIVE_INFINITY])('waits for %d ms', async (timeoutMs) => {
    await using server = await tiny()
    await using client = createClient({ url: server.url, token: TOKEN, timeoutMs })
    expect(await client.query('{ twice(n: 21) }')).toEqual({ twice: 42 })
  })

  it('refuses a URL or a token that is none without repeating it', () => {
    for (const [url, token] of [
      ['ftp://x', TOKEN],
      [`http://${TOKEN}@x`, 'x'],
      ['http://x', `${TOKEN}\n`],
    ] as const) {
      expect(() => createClient({ url, token })).toThrow(TypeError)
      expect(() => createClient({ url, token })).not.toThrow(TOKEN)
    }
    // A variable that is not set.
    for (const token of ['', undefined as unknown as string])
      expect(() => createClient({ url: 'http://x', token })).toThrow('There is no token')
  })
})
