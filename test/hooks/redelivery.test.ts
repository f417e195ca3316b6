import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { until } from '../testkit/wait.ts'

const SECRET = 'a secret that both sides have'
const TOKEN = 'github_pat_never-seen'
const PREPARE = gql(`mutation ($input: CreateHookInput!) {
  createProject(input: { name: "ci", workerTemplate: { command: ["true"] } }) { __typename }
  createHook(input: $input) { __typename ... on Hook { id redelivery { address checkedAt } secrets { name } } ... on Error { message } }
}`)
const UPDATE = gql(`mutation ($input: UpdateHookInput!) {
  answer: updateHook(input: $input) { __typename ... on Hook { redelivery { address } secrets { name } } ... on Error { message } }
}`)
const READ = gql(`{ hook(project: "ci", name: "github") { id redelivery { checkedAt problem }
  deliveries(first: 10) { edges { node { outcome deliveryId } } } } }`)

/** GitHub, as far as webhooks of one repository go: attempts, pages of two, and repetitions on request. */
async function startGitHub() {
  let target = ''
  const attempts: {
    id: number
    guid: string
    delivered_at: string
    status_code: number
    redelivery: boolean
    body: string
  }[] = []
  const refused: string[] = []
  const deliver = async (guid: string, body: string, redelivery: boolean): Promise<void> => {
    const headers = {
      ...{ 'content-type': 'application/json', 'x-github-event': 'push', 'x-github-delivery': guid },
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    }
    const status = await fetch(target, { method: 'POST', headers, body }).then(
      (response) => response.status,
      () => 0,
    )
    attempts.unshift({
      id: attempts.length + 1,
      guid,
      delivered_at: new Date().toISOString(),
      status_code: status,
      redelivery,
      body,
    })
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const origin = `http://${request.headers.host}`
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      refused.push(request.url ?? '')
      return void response.writeHead(401).end('{"message":"Bad credentials"}')
    }
    const [, id] = /^\/repos\/acme\/shop\/hooks\/7\/deliveries\/(\d+)\/attempts$/.exec(url.pathname) ?? []
    if (request.method === 'POST' && id) {
      const found = attempts.find((each) => each.id === Number(id))
      if (found) void deliver(found.guid, found.body, true)
      return void response.writeHead(found ? 202 : 404).end('{}')
    }
    if (url.pathname !== '/repos/acme/shop/hooks/7/deliveries') return void response.writeHead(404).end('{}')
    const from = Number(url.searchParams.get('cursor') ?? 0)
    const next = from + 2 < attempts.length ? { link: `<${origin}${url.pathname}?cursor=${from + 2}>; rel="next"` } : {}
    response.writeHead(200, { 'content-type': 'application/json', ...next })
    response.end(JSON.stringify(attempts.slice(from, from + 2).map(({ body: _, ...shown }) => shown)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/repos/acme/shop/hooks/7`,
    attempts,
    refused,
    deliver,
    aim(url: string) {
      target = url
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('what GitHub could not deliver while the server was away is asked for again, each once', async () => {
  await using github = await startGitHub()
  await using database = await createTestDatabase(1)
  const env = { DATABASE_URL: database.url, PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.0/8' }
  {
    await using app = await startTestApp({ env })
    const input = {
      ...{ project: 'ci', name: 'github', format: 'GITHUB' as const, secrets: [{ name: 'one', value: SECRET }] },
      redelivery: { address: github.address, token: TOKEN },
    }
    const { createHook } = await app.client.query(PREPARE, { input })
    expect(createHook).toMatchObject({
      redelivery: { address: github.address, checkedAt: null },
      secrets: [{ name: 'one' }],
    })
    // The token stays, and is none of the secrets that are left out.
    const id = (createHook && 'id' in createHook && createHook.id) || ''
    const change = {
      id,
      format: 'GITHUB' as const,
      secrets: [{ name: 'one' }],
      redelivery: { address: github.address },
    }
    expect((await app.client.query(UPDATE, { input: change })).answer).toMatchObject({ secrets: [{ name: 'one' }] })
    // Nobody sends the token to another address.
    for (const address of [
      ...['https://api.github.com/repos/acme/other/hooks/7', 'http://api.github.com/repos/acme/shop/hooks/7'],
      ...['https://api.github.com/user', `${github.address}?page=1`, 'x'],
    ]) {
      const other = { ...change, redelivery: { address } }
      const { answer } = await app.client.query(UPDATE, { input: other })
      expect([address, answer]).toEqual([address, expect.objectContaining({ __typename: 'InvalidInputError' })])
    }
    github.aim(`${app.origin}/hooks/ci/github`)
    await github.deliver('arrives', '{"n":1}', false)
    expect(github.attempts[0]?.status_code).toBe(202)
  }
  for (const guid of ['away-1', 'away-2', 'away-3']) await github.deliver(guid, `{"guid":"${guid}"}`, false)
  expect(github.attempts.slice(0, 3).map((each) => each.status_code)).toEqual([0, 0, 0])
  // A check just before the end of a server, or by another one, says nothing of the time until the next start.
  const { rows } = await database.pool.query<{ at: Date }>(
    `update hook set checked_at = now() - interval '2 seconds' returning checked_at as at`,
  )
  const before = present(rows[0]).at
  await using app = await startTestApp({ env })
  github.aim(`${app.origin}/hooks/ci/github`)
  const deliveries = await until(
    async () => {
      const found = present((await app.client.query(READ)).hook).deliveries.edges.map(({ node }) => node)
      return found.length === 4 ? found : null
    },
    { what: 'all have arrived' },
  )
  // They arrive in any order.
  expect(deliveries.map(({ outcome, deliveryId }) => [deliveryId, outcome]).sort()).toEqual(
    ['arrives', 'away-1', 'away-2', 'away-3'].map((guid) => [guid, 'ACCEPTED']),
  )
  // The server notes it once GitHub has answered all of its requests.
  const hook = await until(
    async () => {
      const found = present((await app.client.query(READ)).hook)
      return Date.parse(found.redelivery?.checkedAt ?? '') > before.getTime() ? found : null
    },
    { what: 'the server has noted it' },
  )
  expect(hook.redelivery).toMatchObject({ problem: null })
  expect(github.refused).toEqual([])
  expect(app.output()).not.toContain(TOKEN)
})
