import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { startReceiver } from '../testkit/receiver.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { goTo, visit } from './visit.ts'

const here = usePlace()

test('a rule is created, tried, says why a message does not arrive, and is deleted', async () => {
  await using receiver = await startReceiver()
  await ask(here.server.client, MUTATIONS.createProject, { name: 'told' })
  await using visited = await visit(here.browser, here.server, '/projects?name=told')
  const { page, complaints } = visited
  const rules = page.getByRole('region', { name: 'Notifications' })
  await rules.getByLabel('Name', { exact: true }).fill('failures')
  await rules.getByLabel('URL').fill(receiver.url)
  await rules.getByRole('button', { name: 'Add rule' }).click()
  await rules.getByText('failures is created.').waitFor()
  await rules.getByText(/tells FAILED, of roots to/).waitFor()
  await rules.getByRole('button', { name: 'Try failures' }).click()
  // The server of these tests lets no rule reach its own machine.
  await rules
    .getByText(/127\.0\.0\.1 is an address of a private network/)
    .first()
    .waitFor()
  await rules.getByText('1 waiting').waitFor()
  expect(receiver.received).toEqual([])
  await rules.getByText('1 message', { exact: true }).click()
  await rules.getByText('admin tries this rule. It works.').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await rules.getByRole('button', { name: 'Delete failures' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await rules.getByText('There are none.').waitFor()
  expect(complaints).toEqual([])
})

const CREATE = gql(`mutation ($input: CreateNotificationRuleInput!) {
  answer: createNotificationRule(input: $input) { ... on NotificationRule { id } ... on Error { message } }
}`)

test('the rules of all projects are one list, with what they tell', async () => {
  await using receiver = await startReceiver()
  const { client } = here.server
  const receivers = { webhook: { url: receiver.url } }
  for (const project of ['east', 'west']) {
    await ask(client, MUTATIONS.createProject, { name: project })
    const changes = { kinds: ['TASK' as const], classes: ['FAILED' as const] }
    await ask(client, CREATE, {
      project,
      name: `${project}-fails`,
      changes,
      receiver: receivers,
      enabled: project === 'east',
    })
  }
  await using visited = await visit(here.browser, here.server, '/projects')
  const { page, complaints } = visited
  await page.locator('[data-connection=live]').waitFor()
  await goTo(page, 'Settings', 'Notifications')
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })
  await row('east-fails').getByText('TASK, FAILED').waitFor()
  await row('east-fails').getByText('never').waitFor()
  await row('west-fails').getByText('disabled').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('link', { name: 'Open west-fails in west' }).click()
  await page.getByRole('region', { name: 'Notifications' }).getByText('west-fails').waitFor()
  expect(complaints).toEqual([])
})
