import { readFileSync } from 'node:fs'
import { copyFile, mkdtempDisposable, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type SecureVersion, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { Secret } from '../../src/core/secret.ts'
import { agentToken } from '../../src/start/built-in-agents.ts'
import { type CommandLine, commandLine } from '../cli/command.ts'
import { startTestApp } from '../testkit/app.ts'
import { type Authority, createAuthority } from '../testkit/certificates.ts'
import { freePort } from '../testkit/redis.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** A server with a certificate of a private authority, which is replaced as Kubernetes does: by the swap of a symbolic link. */

let folder: string
let authority: Authority
let server: ReachableServer
let agentsPort: number
let phaseline: CommandLine
const shared = new AsyncDisposableStack()
beforeAll(async () => {
  folder = shared.use(await mkdtempDisposable(join(tmpdir(), 'phaseline-tls-'))).path
  authority = await createAuthority(folder)
  await show(await authority.issue('first'))
  agentsPort = await freePort()
  server = shared.use(await startTestApp({ env: { ...TLS(), PHASELINE_AGENTS_PORT: String(agentsPort) } }))
  phaseline = commandLine({
    ...{ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, NODE_EXTRA_CA_CERTS: authority.caFile },
  })
})
afterAll(() => shared.disposeAsync())

const TLS = () => ({
  PHASELINE_TLS_CERT: join(folder, 'mounted/tls.crt'),
  PHASELINE_TLS_KEY: join(folder, 'mounted/tls.key'),
  PHASELINE_ALLOWED_HOSTS: 'phaseline.test',
})
async function show(pair: string): Promise<void> {
  await symlink(pair, join(folder, 'next'))
  await rename(join(folder, 'next'), join(folder, 'mounted'))
}
const ca = () => readFileSync(authority.caFile)
const portOf = ({ origin }: ReachableServer): number => Number(new URL(origin).port)

/** The common name of the certificate, and the version, of a new connection. */
async function handshake(maxVersion: SecureVersion = 'TLSv1.3'): Promise<{ name: string; version: string | null }> {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const options = { minVersion: 'TLSv1', maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const opened = connect({ port: portOf(server), host: '127.0.0.1', ca: ca(), ...options }, () => resolve(opened))
    opened.once('error', reject)
  })
  const version = socket.getProtocol()
  const { CN } = socket.getPeerCertificate().subject
  socket.destroy()
  return { name: String(CN), version }
}

interface Call {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}
function call(url: string, { path = '/graphql', headers = {}, body }: Call = {}): Promise<Answer> {
  const send = url.startsWith('https:') ? request : plainRequest
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = send(new URL(path, url), { method, ca: ca(), headers: { ...headers } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
const asking = (token: string, more: Readonly<Record<string, string>> = {}): Call => ({
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...more },
  body: '{"query":"{ viewer { name } }"}',
})

test('the server speaks TLS 1.2 and 1.3 only, and has browsers stay with it', async () => {
  expect(server.origin).toMatch(/^https:/)
  expect((await handshake()).version).toBe('TLSv1.3')
  expect((await handshake('TLSv1.2')).version).toBe('TLSv1.2')
  await expect(handshake('TLSv1.1')).rejects.toThrow(/protocol version|alert/)
  await expect(call(server.origin.replace('https', 'http'))).rejects.toThrow()
  const named = await call(server.origin, { path: '/', headers: { host: 'phaseline.test' } })
  expect([named.status, named.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
  // Other servers of a developer's machine have this name too.
  expect((await call(server.origin, { path: '/' })).headers['strict-transport-security']).toBeUndefined()
  const page = await call(server.origin, asking(server.token, { origin: server.origin }))
  expect(page.status).toBe(200)
  const plainPage = asking(server.token, { origin: server.origin.replace('https', 'http') })
  expect((await call(server.origin, plainPage)).status).toBe(403)
})

test('built-in agents work, and a stream of the command line outlives the certificate', async () => {
  await using following = phaseline.spawn('log --follow --after 0')
  const manifest = join(folder, 'shop.json')
  const item = { name: 'item', type: 'mock', config: {} }
  await writeFile(manifest, JSON.stringify({ name: 'shop', spec: { deployItems: [item] } }))
  await using applied = phaseline.spawn(`apply -f ${manifest} --wait`)
  expect([await applied.exit, applied.err()]).toEqual([0, ''])
  await following.shows('default/shop')

  await show(await authority.issue('second'))
  await until(async () => (await handshake()).name === 'second', { what: 'new connections see the new certificate' })
  await writeFile(manifest, JSON.stringify({ name: 'later', spec: { deployItems: [item] } }))
  await using again = phaseline.spawn(`apply -f ${manifest} --wait`)
  expect([await again.exit, again.err()]).toEqual([0, ''])
  await following.shows('default/later')
  expect(following.err()).toBe('')
})

test('a pair that does not fit is named in the log, and the one before it stays', async () => {
  const before = (await handshake()).name
  const other = await authority.issue('third')
  const torn = await authority.issue('torn')
  await copyFile(join(other, 'tls.key'), join(torn, 'tls.key'))
  await show(torn)
  await until(() => server.output().includes('the one before it stays'), { what: 'it is named' })
  expect((await handshake()).name).toBe(before)
  expect(server.output()).not.toContain('PRIVATE KEY')
  await show(other)
  await until(async () => (await handshake()).name === 'third', { what: 'a pair that fits is taken' })
})

test('a client that does not know the authority is told what to do', async () => {
  const strange = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  await using running = strange.spawn('whoami')
  expect(await running.exit).toBe(4)
  expect(running.err()).toMatch(/certificate.*\(NODE_EXTRA_CA_CERTS names the file of a private authority\)/)
})

test('the port of the built-in agents is for them alone, and has no page', async () => {
  const url = `http://127.0.0.1:${agentsPort}`
  const ofAgent = agentToken(new Secret(server.token), { purpose: 'phaseline built-in agents' }).reveal()
  expect((await call(url, asking(server.token))).status).toBe(401)
  expect((await call(url, asking(ofAgent))).status).toBe(200)
  expect((await call(url, asking(ofAgent, { origin: url }))).status).toBe(403)
  for (const path of ['/', '/metrics', '/.well-known/phaseline', '/graphiql'])
    expect((await call(url, { path })).status).toBe(404)
  const closed = (token: string): Promise<number> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
      const payload = { authorization: `Bearer ${token}` }
      socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload })))
      socket.once('message', () => socket.close(1000))
      socket.once('close', resolve)
    })
  expect(await closed(server.token)).toBe(4403)
  expect(await closed(ofAgent)).toBe(1000)
})

test.each([
  ['that is not there', async (pair: string) => await rm(join(pair, 'tls.key')), /PHASELINE_TLS_KEY: .* \(ENOENT\)/],
  ['that is none', async (pair: string) => await writeFile(join(pair, 'tls.crt'), 'x'), /are no certificate in PEM/],
])('a server does not start with a file %s', async (name, spoil, problem) => {
  const pair = await authority.issue(name.replaceAll(' ', '-'))
  await spoil(pair)
  const env = { PHASELINE_TLS_CERT: join(pair, 'tls.crt'), PHASELINE_TLS_KEY: join(pair, 'tls.key') }
  await expect(startTestApp({ env })).rejects.toThrow(problem)
})
