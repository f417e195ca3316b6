import { serverAudits } from 'graphql-http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { call } from './call.ts'

/** The audit of the specification GraphQL over HTTP: https://graphql.github.io/graphql-over-http */

let api: Api
let server: RunningServer
let authorization: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve()
  authorization = `Bearer ${await api.token()}`
})
afterAll(() => api[Symbol.asyncDispose]())

const audits = serverAudits({
  url: () => `${server.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { authorization, ...(init.headers as Record<string, string>) } }),
})
const required = audits.filter(({ name }) => /^(MUST|SHOULD)/.test(name))

test('everything is audited', () => {
  expect(required).toHaveLength(36)
})
test.each(required)('$id $name', async ({ fn }) => {
  const { status, ...found } = await fn()
  expect(status, 'reason' in found ? found.reason : '').toBe('ok')
  if ('response' in found) await found.response.body?.cancel()
})

test('what GraphQL answers is never stored', async () => {
  const headers = { authorization, 'content-type': 'application/json', accept: 'application/json' }
  const stream = { ...headers, accept: 'text/event-stream' }
  const query = JSON.stringify({ query: '{ viewer { name } }' })
  const post = (body: string, more = headers) => call(server.port, '/graphql', { method: 'POST', headers: more, body })
  const get = (path: string, more: Record<string, string>) => call(server.port, path, { headers: more })
  for (const answer of [
    post(query),
    post('{'),
    post('x'.repeat(17 * 1024 * 1024)),
    post(query, stream),
    post(query, { ...headers, authorization: 'Bearer nonsense' }),
    get(`/graphql?query=${encodeURIComponent('{ viewer { name } }')}`, stream),
    get('/graphql', headers),
    get('/metrics', headers),
  ]) {
    expect((await answer).headers['cache-control']).toBe('no-store')
  }
})
