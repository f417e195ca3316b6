import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { verbDocument } from '../../src/cli/objects/verbs.ts'
import { OWN_DOCUMENTS } from '../../src/documents/own-documents.ts'
import { documentHash } from '../../src/server/operation/trusted-documents.ts'
import { readDocuments } from '../../src/start/read-documents.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { call, refusals } from './call.ts'

const KNOWN = 'query Known { viewer { name } }'
const FOLLOW = 'subscription Follow { phaseLog(after: 0) { through } }'
const OTHER = '{ viewer { name } }'
const documents = { texts: [KNOWN, FOLLOW], hashes: OWN_DOCUMENTS, isRequired: true }

let api: Api
let token: string
beforeAll(async () => {
  api = await createApi()
  token = await api.token()
})
afterAll(() => api[Symbol.asyncDispose]())

const headers = { 'content-type': 'application/json', accept: 'application/json' }
async function ask(port: number, request: object, more: Readonly<Record<string, string>> = {}) {
  const authorization = `Bearer ${token}`
  const sent = { ...headers, authorization, ...more }
  const { status, json } = await call(port, '/graphql', {
    method: 'POST',
    headers: sent,
    body: JSON.stringify(request),
  })
  const { data, errors } = json()
  return [status, errors?.[0].extensions.code ?? data.viewer.name]
}
const byId = { documentId: `sha256:${documentHash(KNOWN)}` }
const byHash = { extensions: { persistedQuery: { version: 1, sha256Hash: documentHash(KNOWN) } } }
const UNKNOWN = { documentId: `sha256:${documentHash(OTHER)}` }

test('where trusted documents are required, only those are run, by text or by id', async () => {
  const { port } = await api.serve({ documents })
  for (const request of [{ query: KNOWN }, byId, byHash, { ...byHash, query: '' }]) {
    expect(await ask(port, request)).toEqual([200, 'ada'])
  }
  expect(await ask(port, { query: OTHER })).toEqual([400, 'DOCUMENT_NOT_TRUSTED'])
  expect(await ask(port, { query: `${KNOWN} ` })).toEqual([400, 'DOCUMENT_NOT_TRUSTED'])
  expect(await ask(port, UNKNOWN)).toEqual([400, 'PERSISTED_QUERY_NOT_FOUND'])
  const persistedQuery = { version: 1, sha256Hash: documentHash(OTHER) }
  expect(await ask(port, { extensions: { persistedQuery } })).toEqual([200, 'PERSISTED_QUERY_NOT_SUPPORTED'])
  expect(await refusals({ port }, token, 'DOCUMENT_NOT_TRUSTED')).toBe(2)
  const get = (params: Record<string, string>) =>
    call(port, `/graphql?${new URLSearchParams(params)}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    })
  expect((await get({ query: OTHER })).body).toContain('DOCUMENT_NOT_TRUSTED')
  expect((await get({ documentId: byId.documentId })).body).toContain('"name":"ada"')
  expect((await get({ documentId: UNKNOWN.documentId })).body).toContain('PERSISTED_QUERY_NOT_FOUND')
})

test('so it is on WebSockets', async () => {
  const { port } = await api.serve({ documents })
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws')
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  await once(socket, 'message')
  const subscribe = (id: string, payload: object) => {
    const answered = new Promise((resolve) =>
      socket.on('message', (data) => {
        const message = JSON.parse(String(data))
        if (message.id === id && message.type !== 'complete') resolve(message)
      }),
    )
    socket.send(JSON.stringify({ id, type: 'subscribe', payload }))
    return answered
  }
  const refused = { type: 'error', payload: [{ extensions: { code: 'DOCUMENT_NOT_TRUSTED' } }] }
  expect(await subscribe('1', { query: 'subscription { phaseLog(after: 0) { through } }' })).toMatchObject(refused)
  expect(await subscribe('2', { query: OTHER })).toMatchObject(refused)
  expect(await subscribe('3', { ...byId, query: '' })).toMatchObject({ payload: { data: { viewer: { name: 'ada' } } } })
  expect(await subscribe('4', { ...UNKNOWN, query: '' })).toMatchObject({
    payload: [{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
  })
})

test('where they are optional, everything is run', async () => {
  const { port } = await api.serve({ documents: { ...documents, isRequired: false } })
  for (const request of [{ query: OTHER }, byId]) expect(await ask(port, request)).toEqual([200, 'ada'])
})

test('a verb of any of our kinds is one of our own documents', () => {
  expect(OWN_DOCUMENTS).toContain(documentHash(verbDocument({ mutation: 'cancelInstallation' })))
  expect(OWN_DOCUMENTS).not.toContain(documentHash(OTHER))
})

test('introspection and suggestions can be switched off', async () => {
  const quiet = await api.serve({ disclosure: { introspection: false, suggestions: false } })
  const open = await api.serve()
  const answer = async (port: number, query: string, variables?: object) => {
    const authorization = { ...headers, authorization: `Bearer ${token}` }
    const body = JSON.stringify({ query, variables })
    return (await call(port, '/graphql', { method: 'POST', headers: authorization, body })).body
  }
  const KIND = 'query ($kind: ObjectKind!) { stateMachines(kind: $kind) { name } }'
  for (const [query, variables, told] of [
    ['{ __schema { queryType { name } } }', undefined, '"queryType"'],
    ['{ viewer { nam } }', undefined, 'Did you mean'],
    [KIND, { kind: 'INSTALATION' }, 'Did you mean'],
  ] as const) {
    expect(await answer(open.port, query, variables)).toContain(told)
    expect(await answer(quiet.port, query, variables)).not.toContain(told)
  }
  expect(await answer(quiet.port, '{ viewer { __typename } }')).toContain('"__typename":"Viewer"')
})

test('documents come from a folder or a manifest', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-documents-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const manifest = join(folder, 'documents.json')
  await writeFile(join(folder, 'known.graphql'), KNOWN)
  await writeFile(manifest, JSON.stringify({ [`sha256:${documentHash(FOLLOW)}`]: FOLLOW }))
  expect(await readDocuments(folder)).toEqual([KNOWN])
  expect(await readDocuments(manifest)).toEqual([FOLLOW])
  await writeFile(manifest, JSON.stringify({ [documentHash(OTHER)]: FOLLOW }))
  await expect(readDocuments(manifest)).rejects.toThrow('is not the SHA-256 of its document')
  await expect(readDocuments(join(folder, 'none'))).rejects.toThrow('cannot be read')
})
