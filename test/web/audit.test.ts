import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AUDIT_FILTER, aboutOf, auditFilterInput, withNewer } from '../../web-playground/src/model/audit.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { openBrowser } from '../testkit/browser.ts'
import { gql } from '../testkit/gql.ts'
import { create, items } from '../testkit/mutations.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { seriousFindings } from './axe.ts'
import { visit } from './visit.ts'

test('the address has the filter', () => {
  const filter = { ...AUDIT_FILTER.all, operation: 'createToken', outcome: 'REFUSED', last: 'day' } as const
  expect(AUDIT_FILTER.write(filter)).toBe('?operation=createToken&outcome=refused&last=day')
  expect(AUDIT_FILTER.read(AUDIT_FILTER.write(filter))).toEqual(filter)
  expect(AUDIT_FILTER.read('?outcome=maybe&last=toString')).toEqual(AUDIT_FILTER.all)
  expect(auditFilterInput(filter, 86_400_000)).toEqual({
    operation: 'createToken',
    outcome: 'REFUSED',
    since: '1970-01-01T00:00:00.000Z',
  })
})

test('an event that is known already is not shown twice', () => {
  const [one, two] = [{ sequence: 1 }, { sequence: 2 }]
  expect(withNewer([one], two)).toEqual([two, one])
  expect(withNewer([two, one], two)).toEqual([two, one])
})

test('what an event is about', () => {
  const about = { objectKind: 'SECRET', objectName: 'KEY', objectId: null, projectName: 'web' }
  expect(aboutOf(about, new Map())).toEqual({ kind: 'SECRET', name: 'web/KEY' })
  expect(aboutOf({ ...about, objectKind: 'PROJECT', objectName: 'web' }, new Map()).name).toBe('web')
  expect(aboutOf({ objectKind: null, objectName: null, objectId: null, projectName: null }, new Map()).name).toBe('')
  const gate = { objectKind: 'DEPLOY_ITEM', objectName: 'go', objectId: 'id', projectName: 'web' }
  expect(aboutOf(gate, new Map([['id', 'shop/deploy-items/go']])).name).toBe('web/shop/deploy-items/go')
})

let stack: AsyncDisposableStack
let server: ReachableServer
let browser: Browser
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  ;[browser, server] = await Promise.all([openBrowser(), startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })])
  stack.use(server)
})
afterAll(() => stack.disposeAsync())

const SET_SECRET = gql(
  'mutation ($input: SetSecretInput!) { answer: setSecret(input: $input) { __typename ... on Error { message } } }',
)
const CREATE_TOKEN = gql(
  'mutation ($input: CreateTokenInput!) { answer: createToken(input: $input) { ... on CreatedToken { secret } ... on Error { message } } }',
)
const UPDATE_LABELS = gql(
  'mutation ($input: UpdateLabelsInput!) { answer: updateLabels(input: $input) { __typename ... on Error { message } } }',
)
const ITEMS = gql('query { objects(filter: { kinds: [DEPLOY_ITEM] }, first: 1) { edges { node { id } } } }')
const setSecret = (name: string) => ask(server.client, SET_SECRET, { project: 'default', name, value: 'never-shown' })

test('administrators see what happens as it happens, narrow it by the address, and read older pages', async () => {
  await Promise.all(Array.from({ length: 105 }, (_, i) => setSecret(`OLD_${i % 50}`)))
  await ask(server.client, SET_SECRET, { project: 'none', name: 'X', value: 'x' }).catch(() => undefined)
  const headers = { 'content-type': 'application/json', authorization: 'Bearer pl_wrong' }
  await fetch(server.url, { method: 'POST', headers, body: '{"query":"{ viewer { name } }"}' })
  const id = await create(server.client, 'shop', items(1))
  await using visited = await visit(browser, server, '/audit')
  const { page, complaints } = visited
  const rows = page.locator('.audit-row')
  await rows.filter({ hasText: 'createInstallation' }).waitFor()
  await page.getByText(/Chained up to event \d+/).waitFor()
  expect(await rows.filter({ hasText: 'setSecret' }).filter({ hasText: 'refused' }).count()).toBe(1)

  await setSecret('LIVE')
  await rows.filter({ hasText: 'default/LIVE' }).waitFor()
  expect(await rows.first().textContent()).toContain('setSecret')
  // A request names the object by its id alone; the rows show where it is.
  const { objects } = await server.client.query(ITEMS, {})
  await ask(server.client, UPDATE_LABELS, {
    id: present(objects?.edges[0]).node.id,
    set: [{ key: 'team', value: 'web' }],
  })
  await rows.filter({ hasText: 'updateLabels' }).filter({ hasText: 'default/shop/deploy-items/item-0' }).waitFor()
  const before = await rows.count()
  await page.getByRole('button', { name: 'Show older events' }).click()
  await rows.filter({ hasText: 'token.configured' }).first().waitFor()
  expect(await rows.count()).toBeGreaterThan(before)
  const sequences = await rows.evaluateAll((all) => all.map((row) => Number(row.getAttribute('data-sequence'))))
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => b - a))
  expect(await page.content()).not.toContain('never-shown')

  expect(await seriousFindings(page)).toEqual([])

  await page.getByLabel('Outcome').selectOption('REFUSED')
  await page.waitForURL(/\/audit\?outcome=refused$/)
  await rows.filter({ hasText: 'token.refused' }).waitFor()
  await page.locator('.audit-row[data-outcome=DONE]').first().waitFor({ state: 'detached' })
  await page.goto(`${server.origin}/audit?operation=createInstallation`)
  await rows.filter({ hasText: 'default/shop' }).getByRole('link', { name: 'default/shop' }).click()
  await page.waitForURL(new RegExp(`/machines\\?object=${id}`))
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([])
})

test('others have no such page', async () => {
  const { secret } = await ask(server.client, CREATE_TOKEN, { name: 'reader', role: 'READER' })
  await using visited = await visit(browser, { ...server, token: secret }, '/audit')
  await visited.page.getByText('Only administrators see the audit.').waitFor()
  expect(await visited.page.getByRole('link', { name: 'Audit' }).count()).toBe(0)
})
