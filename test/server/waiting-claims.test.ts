import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningServer } from '../../src/server/server.ts'
import { type Api, createApi } from '../graphql/api.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { item } from '../testkit/world.ts'

let api: Api
let server: RunningServer
let token: string
beforeAll(async () => {
  api = await createApi()
  server = await api.serve()
  token = await api.token({ role: 'AGENT', actor: 'DEPLOYER', name: 'dora' })
})
afterAll(() => api[Symbol.asyncDispose]())

const CLAIM = gql(`mutation ($input: ClaimWorkInput!) {
  claimWork(input: $input) { ... on ClaimedWork { waitedMs items { fence objectId name leaseUntil } } ... on Error { message } }
}`)

async function claim(type: string, waitMs: number, { signal, max = 10 }: { signal?: AbortSignal; max?: number } = {}) {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: CLAIM, variables: { input: { instance: 'one', types: [type], max, waitMs } } }),
    ...(signal ? { signal } : {}),
  })
  const { data } = (await response.json()) as { data: { claimWork: any } }
  return data.claimWork
}

const waits = () => until(() => api.services.agents.waitingClaims === 1, { what: 'the claim waits' })

test('work that comes up is claimed by who waits for it in the transaction in which it comes up', async () => {
  const waiting = claim('soon', 20_000, { max: 3 })
  await waits()
  api.world.clock.advance(4_000)
  const deployItems = ['a', 'b', 'c', 'd'].map((name) => ({ ...item(name), type: 'soon' }))
  await api.world.create('soon', { deployItems })
  const { items, waitedMs } = await waiting
  expect(items.map(({ name }: { name: string }) => name)).toEqual(['a', 'b', 'c'])
  // The agent counts its leases from here, not from when it asked.
  expect(waitedMs).toBe(4_000)
  const { rows } = await api.world.pool.query(
    `select name, array_agg("to"::text order by idx) as phases, count(distinct batch_id)::int as transactions
     from phase_change where kind = 'DEPLOY_ITEM' and object_id = any($1) group by name order by name`,
    [items.map(({ objectId }: { objectId: string }) => objectId)],
  )
  const phases = ['PENDING', 'INIT', 'PROGRESSING']
  expect(rows).toEqual(['a', 'b', 'c'].map((name) => ({ name, phases, transactions: 1 })))
  // The claim takes three at most; the fourth item goes to the next claim.
  expect((await claim('soon', 0)).items.map(({ name }: { name: string }) => name)).toEqual(['d'])
  const dora = await api.services.tokens.authenticate(token)
  expect(dora && (await api.world.report({ fence: items[0].fence, phase: 'SUCCEEDED' }, dora))).toBe(true)
})

test('who has gone gets nothing, and nothing is lost by it', async () => {
  const gone = new AbortController()
  const waiting = claim('gone', 20_000, { signal: gone.signal })
  await waits()
  gone.abort()
  await expect(waiting).rejects.toThrow()
  await until(() => api.services.agents.waitingClaims === 0, { what: 'it waits no more' })
  await api.world.create('gone', { deployItems: [{ ...item('only'), type: 'gone' }] })
  const { items } = await claim('gone', 0)
  expect(items.map(({ name }: { name: string }) => name)).toEqual(['only'])
})

test('a claim waits no longer than it asks for, and not at all when there is something', async () => {
  expect((await claim('never', 50)).items).toEqual([])
  await api.world.create('there', { deployItems: [{ ...item('only'), type: 'there' }] })
  expect((await claim('there', 20_000)).items).toHaveLength(1)
})

test('a server that closes answers the claims that wait', async () => {
  const waiting = claim('closing', 20_000)
  await waits()
  await server.close()
  expect((await waiting).items).toEqual([])
})
