import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { goTo, visit } from './visit.ts'

const here = usePlace()
const SECRET = 'marker-77ab-never-seen'
const HOOK = gql(
  `query ($project: String!) { hook(project: $project, name: "shop") { secrets { name } filter format } }`,
)

test('a hook is created, shows what it received, plays it again, and is deleted; its secret is nowhere', async () => {
  await ask(here.server.client, MUTATIONS.createProject, {
    ...{ name: 'hooked', workerTemplate: { command: ['true'] } },
  })
  await using visited = await visit(here.browser, here.server, '/projects?name=hooked')
  const { page, complaints } = visited
  const hooks = page.getByRole('region', { name: 'Hooks' })
  await hooks.getByLabel('Name').fill('shop')
  await hooks.getByLabel('Format').selectOption('GENERIC')
  await hooks.getByLabel(/^Secret/).fill(SECRET)
  await hooks.getByLabel(/^Filter/).fill('body.')
  await hooks.getByRole('button', { name: 'Add hook' }).click()
  await hooks.getByText(/INVALID_INPUT: input\.filter/).waitFor()
  await hooks.getByLabel(/^Secret/).fill(SECRET)
  await hooks.getByLabel(/^Filter/).fill('body.paid')
  await hooks.getByRole('button', { name: 'Add hook' }).click()
  await hooks.getByText('shop is created.').waitFor()
  const address = (await hooks.getByText('/hooks/hooked/shop').textContent()) ?? ''
  expect(await here.server.client.query(HOOK, { project: 'hooked' })).toEqual({
    hook: { secrets: [{ name: 'first' }], filter: 'body.paid', format: 'GENERIC' },
  })
  const post = (body: string) =>
    fetch(`${new URL(here.server.url).origin}${new URL(address).pathname}`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${SECRET}` }, body },
    })
  expect((await post('{"paid":true}')).status).toBe(202)
  expect((await post('{"paid":7}')).status).toBe(422)
  await hooks.getByText('2 received').click()
  const deliveries = hooks.getByRole('list', { name: 'Deliveries of shop' })
  await deliveries.getByText('The filter is neither true nor false.').waitFor()
  await deliveries.getByRole('link', { name: 'event-1' }).waitFor()
  await deliveries.getByText('Headers and body').last().click()
  await deliveries.getByText('{"paid":true}').waitFor()
  await deliveries
    .getByRole('button', { name: /^Play again/ })
    .last()
    .click()
  await hooks.getByText('3 received').waitFor()
  await deliveries.getByRole('link', { name: 'event-2' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  const kept = await page.evaluate(
    '[document.documentElement.outerHTML, location.href, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join()',
  )
  expect(kept).not.toContain(SECRET)
  await hooks.getByRole('button', { name: 'Delete shop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await hooks.getByText('There are none.').waitFor()
  expect(complaints).toEqual([])
})

const CREATE = gql(`mutation ($input: CreateHookInput!) {
  answer: createHook(input: $input) { ... on Hook { id } ... on Error { message } }
}`)

test('the hooks of all projects are one list, with what each received last', async () => {
  const { client } = here.server
  for (const project of ['north', 'south']) {
    await ask(client, MUTATIONS.createProject, { name: project, workerTemplate: { command: ['true'] } })
    const secrets = [{ name: 'first', value: SECRET }]
    await ask(client, CREATE, { project, name: `${project}-pushes`, format: 'GENERIC', secrets })
  }
  const headers = { authorization: `Bearer ${SECRET}` }
  await fetch(`${here.server.origin}/hooks/north/north-pushes`, { method: 'POST', headers, body: '{}' })
  await using visited = await visit(here.browser, here.server, '/projects')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  await goTo(page, 'Settings', 'Hooks')
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })
  await row('north-pushes').getByText('ACCEPTED').waitFor()
  await row('south-pushes').getByText('never').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.getByLabel('Name', { exact: true }).fill('south')
  await page.waitForURL(/\/hooks\?name=south$/)
  await row('north-pushes').waitFor({ state: 'detached' })
  await page.getByText('1 of 2 hooks').waitFor()
  await page.goto(`${here.server.origin}/hooks?project=north`)
  await page.getByText('1 hook', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Open north-pushes in north' }).click()
  await page.getByRole('region', { name: 'Hooks' }).getByText('north-pushes', { exact: true }).waitFor()
  expect(complaints).toEqual([])
})
