import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../testkit/app.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'

/** Requests of strangers who have no secret, and of senders that break off. */

const SECRET = 'a secret that both sides have'
const CREATE = gql(`mutation ($input: CreateHookInput!) { createHook(input: $input) { __typename } }`)
const READ = gql(`{ hook(project: "default", name: "tried") { deliveries(first: 1) { totalCount } } }`)

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
  const secrets = [{ name: 'one', value: SECRET }]
  await app.client.query(CREATE, { input: { name: 'tried', format: 'GENERIC', secrets, filter: 'false' } })
})
afterAll(() => app[Symbol.asyncDispose]())

const received = async () => present((await app.client.query(READ)).hook).deliveries.totalCount
const HEAD = `authorization: Bearer ${SECRET}\r\n`

async function raw(text: string): Promise<string> {
  const socket = connect(Number(new URL(app.origin).port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    answer += part
  })
  socket.on('error', () => undefined)
  socket.end(`POST /hooks/default/tried HTTP/1.1\r\nhost: ${new URL(app.origin).host}\r\n${text}`)
  await once(socket, 'close')
  return answer
}

test('a body that breaks off is no delivery, however authentic its head is', async () => {
  expect(await raw(`${HEAD}content-length: 20\r\n\r\n{"id":`)).not.toMatch(/ 20[02] /)
  expect(await raw(`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"id"`)).not.toMatch(/ 20[02] /)
  expect(await received()).toBe(0)
})

test.each([
  ['two tokens', `authorization: Bearer another\r\ncontent-length: 2\r\n\r\n{}`, 400],
  ['a compressed body', 'content-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}', 415],
  ['a body that is announced as too long', 'content-length: 10485761\r\n\r\n{}', 413],
])('%s: refused before the body is read', async (_, rest, status) => {
  expect(await raw(`${HEAD}connection: close\r\n${rest}`)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(await received()).toBe(0)
})

test.each([
  '/hooks/default/tried/',
  '/hooks/default/tried/x',
  '/hooks/default',
  '/hooks/',
  '/hooks//tried',
  '/hooks/%64efault/tried',
  '/hooks/default/tried%00',
])('the path %s leads to no hook', async (path) => {
  const headers = { authorization: `Bearer ${SECRET}` }
  expect((await fetch(`${app.origin}${path}`, { method: 'POST', headers, body: '{}' })).status).toBe(401)
  expect(await received()).toBe(0)
})

test('a question mark in the address changes nothing, and the first whole body is a delivery', async () => {
  const headers = { authorization: `Bearer ${SECRET}` }
  const response = await fetch(`${app.origin}/hooks/default/tried?x=/y`, { method: 'POST', headers, body: '{}' })
  expect(response.status).toBe(200)
  expect(await received()).toBe(1)
})
