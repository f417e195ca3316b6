import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Api, createApi } from '../graphql/api.ts'
import { call } from './call.ts'

const PAGES = {
  'index.html': '<!doctype html>index',
  '404.html': '<!doctype html>nowhere',
  'how-to/gitops.html': '<!doctype html>gitops',
  'assets/app.1.js': 'console.log(1)',
  'assets/large.1.js': 'x'.repeat(1_500_000),
}
let folder: string
let api: Api
let port: number
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phaseline-documentation-'))
  for (const name of ['how-to', 'assets']) await mkdir(join(folder, name))
  for (const [name, text] of Object.entries(PAGES)) await writeFile(join(folder, `${name}.gz`), gzipSync(text))
  const site = Object.fromEntries(Object.keys(PAGES).map((name) => [name, name === 'index.html' ? ['sha256-x'] : []]))
  await writeFile(join(folder, 'site.json'), JSON.stringify(site))
  await writeFile(join(folder, 'secret.html.gz'), gzipSync('not to be served'))
  api = await createApi()
  port = Number(new URL((await api.serve({ documentationFolder: folder })).url).port)
})
afterAll(async () => {
  await api?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

test('pages are at their addresses, and run their own scripts alone', async () => {
  const { status, headers, body } = await call(port, '/docs/')
  expect([status, body]).toEqual([200, PAGES['index.html']])
  expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self' 'sha256-x';")
  expect(headers['cache-control']).toBe('no-cache')
  expect((await call(port, '/docs/how-to/gitops')).body).toBe(PAGES['how-to/gitops.html'])
  expect((await call(port, '/docs/how-to/gitops')).headers['content-security-policy']).not.toContain('sha256')
  expect((await call(port, '/docs')).headers.location).toBe('/docs/')
})

test('files of a content are kept for good, and sent as they are stored to who takes that', async () => {
  const { headers } = await call(port, '/docs/assets/app.1.js', { headers: { 'accept-encoding': 'gzip, br' } })
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
  expect(headers['cache-control']).toContain('immutable')
  expect(await call(port, '/docs/assets/app.1.js')).toMatchObject({ status: 200, body: PAGES['assets/app.1.js'] })
})

test('a large page is whole, and others are served between its pieces', async () => {
  const large = () => call(port, '/docs/assets/large.1.js')
  let arrived = 0
  const all = Promise.all(
    Array.from({ length: 8 }, async () => {
      const { body, headers } = await large()
      arrived += 1
      expect([body === PAGES['assets/large.1.js'], Number(headers['content-length'])]).toEqual([true, body.length])
    }),
  )
  expect((await call(port, '/docs/')).status).toBe(200)
  expect(arrived).toBe(0)
  await all
})

test('files are read once, however many ask for them', async () => {
  await call(port, '/docs/assets/app.1.js')
  const file = join(folder, 'assets/app.1.js.gz')
  await writeFile(file, 'not to be inflated again')
  onTestFinished(() => writeFile(file, gzipSync(PAGES['assets/app.1.js'])))
  expect((await call(port, '/docs/assets/app.1.js')).body).toBe(PAGES['assets/app.1.js'])
})

test('whoever takes many pages at an address gets them late, and another one at once', async () => {
  const served = await api.serve({
    ...{ documentationFolder: folder, trustedProxies: ['127.0.0.1'] },
    limits: { requestsPerSecondPerAddress: 20 },
  })
  const order: string[] = []
  const ask = async (address: string) => {
    expect((await call(served.port, '/docs/', { headers: { 'x-forwarded-for': address } })).status).toBe(200)
    order.push(address)
  }
  const greedy = Array.from({ length: 12 }, () => ask('192.0.2.1'))
  await ask('192.0.2.2')
  expect(order.length).toBeLessThan(12)
  await Promise.all(greedy)
})

test('nothing else of the disk is served', async () => {
  for (const path of [
    '/docs/secret',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/toString',
    '/docs/site.json',
  ]) {
    expect([path, (await call(port, path)).status]).toEqual([path, 404])
  }
  const missing = await call(port, '/docs/nowhere', { headers: { accept: 'text/html' } })
  expect([missing.status, missing.body]).toEqual([404, PAGES['404.html']])
  expect((await call(port, '/docs/', { method: 'POST' })).status).toBe(405)
})

test('where it is not built, it is said how that is done', async () => {
  const bare = Number(new URL((await api.serve({ documentationFolder: join(folder, 'none') })).url).port)
  const { status, body } = await call(bare, '/docs/quick-start', { headers: { accept: 'text/html' } })
  expect([status, body]).toEqual([404, expect.stringContaining('npm run build:docs')])
})
