import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../graphql/api.ts'
import { call } from './call.ts'

let api: Api
let url: string
beforeAll(async () => {
  api = await createApi()
  url = (await api.serve()).url
})
afterAll(() => api[Symbol.asyncDispose]())

test('GraphiQL is compressed once, and may be framed by pages of ours alone', async () => {
  const { status, headers } = await call(Number(new URL(url).port), '/graphql', { headers: { accept: 'text/html' } })
  expect(status).toBe(200)
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'x-frame-options': 'SAMEORIGIN' })
  expect(headers['content-security-policy']).toContain("frame-ancestors 'self'")
  expect(Number(headers['content-length'])).toBeLessThan(4_000_000)
})
