import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadDashboard } from '../../src/server/pages/dashboard.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { call } from './call.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const SCRIPT = 'console.log("a script that is long enough")'
let folder: string
let api: Api
let port: number
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phaseline-dashboard-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<!doctype html><div id="root"></div>')
  await writeFile(join(folder, 'graphiql.html'), '<!doctype html><title>GraphiQL</title>')
  await writeFile(join(folder, 'assets/index-1.js.gz'), gzipSync(SCRIPT))
  await writeFile(join(folder, 'assets/index-1.js.br'), brotliCompressSync(SCRIPT))
  await writeFile(join(folder, 'secret.txt'), 'not to be served')
  api = await createApi()
  port = Number(new URL((await api.serve({ dashboardFolder: folder })).url).port)
})
afterAll(async () => {
  await api?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

test('browsers get the dashboard at each address of its form, which runs no script but its own files', async () => {
  for (const path of ['/', '/objects?kind=TASK', '/tree/0197-a', '/log', '/nowhere']) {
    const { status, headers, body } = await call(port, path, { headers: BROWSER })
    expect([path, status, body]).toEqual([path, 200, '<!doctype html><div id="root"></div>'])
    const policy = headers['content-security-policy']
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("connect-src 'self'; frame-src 'self'; base-uri 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(headers['x-frame-options']).toBe('DENY')
    expect(policy).not.toContain('unsafe')
    expect(headers['cache-control']).toBe('no-cache')
  }
})

test('a program learns that nothing is there', async () => {
  expect((await call(port, '/objects')).status).toBe(404)
  expect((await call(port, '/objects', { method: 'POST', headers: BROWSER })).status).toBe(405)
})

test('GraphiQL has a looser policy for its editor, and only pages of this server may frame it', async () => {
  for (const path of ['/graphiql', '/graphql']) {
    const { status, headers, body } = await call(port, path, { headers: BROWSER })
    expect([path, status, body]).toEqual([path, 200, '<!doctype html><title>GraphiQL</title>'])
    const policy = headers['content-security-policy']
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).toContain("worker-src 'self'")
    expect(policy).toContain("frame-ancestors 'self'")
    expect(headers['x-frame-options']).toBe('SAMEORIGIN')
  }
})

test('assets are cached for ever, and are compressed for clients that accept it', async () => {
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1.0, identity; q=0.5', 'gzip'],
    ['gzip;q=0, br; q=0.0', undefined],
    ['', undefined],
  ] as const) {
    const { status, headers, body } = await call(port, '/assets/index-1.js', {
      headers: { 'accept-encoding': accepted },
    })
    expect([status, headers['content-encoding'], body === SCRIPT]).toEqual([200, encoding, encoding === undefined])
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
  }
})

test('nothing else of the folder, or of the machine, is served', async () => {
  for (const path of [
    '/assets/none.js',
    '/assets/../secret.txt',
    '/assets/%2e%2e/secret.txt',
    '/secret.txt',
    '/tree/a/b',
  ]) {
    expect([path, (await call(port, path, { headers: BROWSER })).status]).toEqual([path, 404])
  }
  expect((await call(port, '/assets/index-1.js', { method: 'POST' })).status).toBe(405)
})

test("without a build a page of links takes the dashboard's place", async () => {
  expect(await loadDashboard(join(folder, 'nowhere'))).toBe(null)
  const plain = await api.serve()
  const { status, body } = await call(Number(new URL(plain.url).port), '/')
  expect([status, body.includes('GraphiQL are not built')]).toEqual([200, true])
  const graphiql = await call(Number(new URL(plain.url).port), '/graphiql')
  expect([graphiql.status, graphiql.body]).toEqual([200, body])
})
