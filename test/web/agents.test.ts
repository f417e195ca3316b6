import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { type Agent, busyAgents, unservedOf, type WorkObject } from '../../web-playground/src/model/work.ts'
import { startTestApp } from '../testkit/app.ts'
import { openBrowser } from '../testkit/browser.ts'
import { gql } from '../testkit/gql.ts'
import { create } from '../testkit/mutations.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { seriousFindings } from './axe.ts'
import { visit, widerBy } from './visit.ts'

const agent = (name: string, more: Partial<Agent> = {}): Agent => ({
  id: name,
  name,
  instance: 'one',
  actor: 'DEPLOYER',
  types: ['mock'],
  targets: null,
  targetSelector: null,
  connected: true,
  connectedAt: '2026-11-21T20:00:00.000Z',
  seenAt: '2026-11-21T20:00:00.000Z',
  ...more,
})
const work = (name: string, more: Partial<WorkObject> = {}): WorkObject => ({
  id: name,
  kind: 'DEPLOY_ITEM',
  name,
  phase: 'PENDING',
  phaseSince: '2026-11-21T20:00:00.000Z',
  root: { id: 'r', name: 'r' },
  blockedBy: [],
  ...more,
})
const waits = (connected: boolean, ...types: readonly string[]) => ({
  blockedBy: [{ reason: 'AGENT', message: 'waits', types, connected }],
})

test('an agent has what it has a lease for, and those that are there come first', () => {
  const held = (name: string, instance: string, leaseUntil: string | null) => ({
    agent: { name, instance, leaseUntil },
  })
  const all = busyAgents(
    [agent('gone', { connected: false }), agent('idle'), agent('busy')],
    [
      work('a', held('busy', 'one', 'later')),
      work('b', held('busy', 'two', 'later')),
      work('c', held('idle', 'one', null)),
    ],
  )
  expect(all.map(({ agent: { name }, claimed }) => [name, ...claimed.map((object) => object.name)])).toEqual([
    ['busy', 'a'],
    ['idle'],
    ['gone'],
  ])
})

test('work is without an agent when none of its type is there; what waits longest is first', () => {
  const early = { phaseSince: '2026-11-21T19:00:00.000Z' }
  const unserved = unservedOf([
    work('a', waits(false, 'x')),
    work('b', { ...waits(false, 'x'), ...early }),
    work('c', waits(true, 'y')),
    work('d', waits(false, 'z')),
  ])
  expect(unserved.map(({ type, objects }) => [type, ...objects.map(({ name }) => name)])).toEqual([
    ['x', 'b', 'a'],
    ['z', 'd'],
  ])
})

let stack: AsyncDisposableStack
let server: ReachableServer
let browser: Browser
let database: TestDatabase
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  database = stack.use(await createTestDatabase(4))
  // Without agents of its own.
  const env = { DATABASE_URL: database.url, PHASELINE_ROLES: 'gateway,engine' }
  ;[browser, server] = await Promise.all([openBrowser(), startTestApp({ env })])
  stack.use(server)
})
afterAll(() => stack.disposeAsync())

const TOKEN = gql(`mutation {
  createToken(input: { name: "crane", role: AGENT, actor: DEPLOYER, types: ["lift"] }) {
    ... on CreatedToken { secret } ... on Error { message }
  }
}`)
const CLAIM = gql(`mutation { claimWork(input: { instance: "crane-7", types: ["lift"], max: 10, leaseMs: 600000 }) {
  ... on ClaimedWork { items { name } } ... on Error { message }
} }`)

test('the page of a server without figures of its load shows all else, and says so', async () => {
  await using visited = await visit(browser, server, '/machines')
  const { page } = visited
  await page.route('**/graphql', (route) => {
    const body = route.request().postData() ?? ''
    return route.continue({ postData: body.replace('load {', 'formerLoad {') })
  })
  await page.goto(`${server.origin}/agents`)
  await page.getByText('How much work waits is not shown: ').waitFor()
  await page.getByText('No agents yet.').waitFor()
})

test('work that nobody takes is seen first; then who has it, and that it has gone with it', async () => {
  await using visited = await visit(browser, server, '/agents')
  const { page, complaints } = visited
  await page.getByText('No agents yet.').waitFor()
  const id = await create(server.client, 'harbour', {
    deployItems: [{ name: 'box', type: 'lift', config: {} }],
  })
  const unserved = page.getByRole('region', { name: 'No agent for this work' })
  await unserved.getByText('1 object waits').waitFor()
  await unserved.getByRole('link', { name: 'box' }).waitFor()
  const open = page.getByRole('region', { name: 'Open work of all projects' })
  await open.getByRole('row', { name: /^lift 1 \S+ 0 0$/ }).waitFor()
  expect(await seriousFindings(page)).toEqual([])

  const { createToken } = await server.client.query(TOKEN)
  await using crane = createClient({ url: server.url, token: createToken?.secret ?? '' })
  expect(JSON.stringify(await crane.query(CLAIM))).toContain('box')
  const card = page.getByRole('region', { name: 'crane crane-7' })
  await card.getByText('connected').waitFor()
  await card.getByText('1 piece of work').waitFor()
  await unserved.waitFor({ state: 'detached' })
  await page.getByText('1 connected, 0 unreachable').waitFor()

  await database.pool.query("update agent set seen_at = seen_at - interval '2 minutes'")
  await card.getByText('unreachable').waitFor()
  await page.getByRole('heading', { name: 'Disconnected with claimed work' }).waitFor()
  await card.getByText(/its lease ends in \d+m/).waitFor()
  for (const look of [{}, { dark: true, width: 390 }]) {
    await using again = await visit(browser, server, '/agents', look)
    await again.page.getByText('its lease ends').waitFor()
    expect(await seriousFindings(again.page)).toEqual([])
    expect(await widerBy(again.page)).toBeLessThanOrEqual(0)
  }
  await card.getByRole('link', { name: 'box' }).click()
  await page.waitForURL(new RegExp(`/tree/${id}\\?object=`))
  expect(complaints).toEqual([])
})
