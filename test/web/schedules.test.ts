import { expect, test } from 'vitest'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

const here = usePlace()

const PREPARE = gql(`mutation {
  createProject(input: { name: "calendar", workerTemplate: { command: ["true"] } }) { __typename }
  createSchedule(input: {
    project: "calendar", name: "nightly", when: { cron: ["30 2 * * 1-5"], timeZone: "Europe/Berlin" }
    run: { createEvent: { source: "schedule", type: "night" } }
  }) { __typename ... on Schedule { id } }
}`)
test('schedules stand on a calendar, are written with their times in words, backfilled, and cancelled', async () => {
  const { client } = here.server
  const { createSchedule } = await client.query(PREPARE)
  const id = createSchedule && 'id' in createSchedule ? (createSchedule.id ?? '') : ''
  await using visited = await visit(here.browser, here.server, '/schedules?project=calendar&zone=Europe/Berlin')
  const { page, complaints } = visited
  const calendar = page.getByRole('region', { name: 'Calendar' })
  await calendar.getByText('02:30').first().waitFor()
  await page.getByText('every weekday at 02:30 in Berlin').waitFor()

  await page.getByRole('button', { name: 'Add a schedule' }).click()
  const form = page.getByRole('region', { name: 'Add a schedule' })
  await form.getByLabel('Cron').fill('*/10 8-17 * * *')
  await form.getByText('every 10 minutes from 08:00 to 17:59 in').waitFor()
  expect(await form.getByRole('listitem').count()).toBe(10)
  await form.getByLabel('Cron').fill('99 * * * *')
  await form.getByText(/is no line of cron/).waitFor()
  await form.getByLabel('Cron').fill('0 12 * * *')
  await form.getByText('every day at 12:00 in').waitFor()
  await form.getByLabel('Name').fill('noon')
  await form.getByLabel('Type').fill('noon')
  await form.getByRole('button', { name: 'Add schedule' }).click()
  await form.getByText('noon is created.').waitFor()
  expect(await seriousFindings(page)).toEqual([])

  await page.getByRole('region', { name: 'All schedules' }).getByRole('link', { name: 'nightly' }).click()
  await page.getByRole('heading', { name: 'nightly' }).waitFor()
  const backfill = page.getByRole('region', { name: 'Backfill' })
  await backfill.getByLabel('From (your time)').fill('2025-01-06T00:00')
  await backfill.getByLabel('Until (now, if left out)').fill('2025-01-12T00:00')
  await backfill.getByRole('button', { name: 'Backfill' }).click()
  await backfill.getByText(/1 of 5 decided, 1 running, 4 waiting; by admin/).waitFor()
  await backfill.getByRole('button', { name: 'Cancel the backfill' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the backfill' }).click()
  await backfill.getByText(/5 of 5 decided, 1 running, 4 skipped; by admin/).waitFor()
  await page.goto(`${here.server.origin}/schedules?id=${id}&day=2025-01-06&view=week&zone=Europe/Berlin`)
  await calendar.getByText('4 skipped').or(calendar.getByTitle('1 skipped')).first().waitFor()
  expect(await calendar.getByTitle('1 fired').count()).toBeGreaterThan(0)
  expect(await seriousFindings(page)).toEqual([])
  await page.goto(`${here.server.origin}/tree/${id}`)
  await page.getByRole('link', { name: 'Calendar and backfill' }).waitFor()
  expect(complaints).toEqual([])
})

test('an administrator holds the automation of a project, and releases it; everybody sees the hold', async () => {
  const { client, origin } = here.server
  await client.query(gql(`mutation { createProject(input: { name: "frozen" }) { __typename } }`))
  await using visited = await visit(here.browser, here.server, '/schedules?project=frozen')
  const { page, complaints } = visited
  await page.getByRole('button', { name: 'Hold automation' }).click()
  const dialog = page.getByRole('dialog', { name: 'Hold the automation of frozen?' })
  await dialog.getByLabel('Reason').fill('an incident')
  await dialog.getByRole('button', { name: 'Hold' }).click()
  const held = page.getByText(/Automation of frozen is held by admin for .*: an incident/)
  await held.waitFor()
  expect(await seriousFindings(page)).toEqual([])

  const reader = await ask(client, MUTATIONS.createToken, { name: 'held-reader', role: 'READER' })
  await using read = await visit(here.browser, { origin, token: reader.secret }, '/schedules?project=frozen')
  await read.page.getByText('Automation of frozen is held').waitFor()
  expect(await read.page.getByRole('button', { name: 'Release' }).count()).toBe(0)

  const input = { name: 'frozen-admin', role: 'ADMIN', projects: ['frozen'] } as const
  const { secret } = await ask(client, MUTATIONS.createToken, input)
  await using ofProject = await visit(here.browser, { origin, token: secret }, '/schedules?project=frozen')
  await ofProject.page.getByRole('button', { name: 'Release' }).click()
  await held.waitFor({ state: 'detached' })
  await ofProject.page.getByRole('button', { name: 'Hold automation' }).click()
  await ofProject.page.getByLabel('Reason').fill('another')
  await ofProject.page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click()
  await ofProject.page.getByText(/Automation of frozen is held by frozen-admin for .*: another/).waitFor()

  await page.getByRole('button', { name: 'Release' }).click()
  await page.getByRole('button', { name: 'Hold automation' }).waitFor()
  expect(complaints).toEqual([])
})
