import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, createApi } from '../graphql/api.ts'
import { until } from '../testkit/wait.ts'
import { type Browser, openBrowser } from './browser.ts'
import { call } from './call.ts'

let api: Api
let url: string
let browser: Browser
beforeAll(async () => {
  api = await createApi()
  url = (await api.serve()).url
  browser = await openBrowser()
}, 180_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

test.each([
  ['a query', () => '{ viewer { name } }', 'grace'],
  ['a subscription', (root: string) => `subscription { objectUpdates(rootId: "${root}") { revision } }`, 'revision'],
])(
  'GraphiQL is one page with nothing from elsewhere, and runs %s',
  async (what, query, expected) => {
    const root = await api.world.create(what.replace(/\W/g, '_'), {})
    const token = await api.token({ name: 'grace' })
    const page = await browser.open(`${url}/graphiql?query=${encodeURIComponent(query(root))}#token=${token}`)
    await until(() => page.evaluate<boolean>('document.querySelector(".graphiql-execute-button") !== null'), {
      what: 'GraphiQL is there',
      timeoutMs: 30_000,
    })
    // The token has left the address.
    expect(await page.evaluate('location.hash')).toBe('')
    const shown = () => page.evaluate<string>('document.querySelector(".result-window")?.textContent ?? ""')
    await page.evaluate('document.querySelector(".graphiql-execute-button").click()')
    await until(async () => (await shown()).includes(expected), { what: 'the answer is shown', timeoutMs: 30_000 })
    expect(
      page.requests().filter((requested) => !requested.startsWith(url) && !/^(data|blob):/.test(requested)),
    ).toEqual([])
    expect(page.problems()).toEqual([])
  },
  90_000,
)

test('it is compressed once, and may not be framed', async () => {
  const { status, headers } = await call(Number(new URL(url).port), '/graphql', { headers: { accept: 'text/html' } })
  expect(status).toBe(200)
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'x-frame-options': 'DENY' })
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(Number(headers['content-length'])).toBeLessThan(4_000_000)
})
