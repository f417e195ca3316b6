import { expect, test } from 'vitest'
import { WEEKDAYS } from '../../src/core/date-time.ts'
import { commandLine } from '../cli/command.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { openBrowser } from '../testkit/browser.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { startReceiver } from '../testkit/receiver.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { type Visit, visit } from './visit.ts'

/** The same way to production as in docs/how-to/from-push-to-production.md, as two people see it in their browsers. */

const PROJECTS = `kind: Project
name: staging
promotesTo: production
---
kind: Project
name: production
`
const WEBSITE = `name: website
project: staging
spec:
  imports: [{ name: image }, { name: freeze }, { name: gate, schema: { default: { approval: {}, message: Ship it? } } }]
  deployItems:
    - { name: hours, type: gate, config: { freeze: "\${imports.freeze}" } }
    - { name: go, type: gate, dependsOn: [hours], config: "\${imports.gate}" }
    - { name: web, type: mock, dependsOn: [go], config: { exports: { runs: "\${imports.image}" } } }
`
const rule = (url: string) => `kind: NotificationRule
name: approvals
project: production
changes: { reasons: [APPROVAL] }
receiver: { webhook: { url: "${url}" } }
`
/** A day that is neither this one nor the next: in a freeze of all others it is frozen, whatever the hour. */
const FAR = WEEKDAYS[(new Date().getUTCDay() + 2) % 7] ?? 'MONDAY'
const hours = (days: readonly string[]) => JSON.stringify({ ranges: [{ days, from: '00:00', to: '00:00' }] })
const FROZEN = hours(WEEKDAYS.filter((day) => day !== FAR))
const OPEN = hours([FAR])

test('a promotion waits for the end of a freeze, then for another person, who is told and agrees in the browser', async () => {
  await using stack = new AsyncDisposableStack()
  const receiver = stack.use(await startReceiver())
  const env = {
    ...{ PHASELINE_ROLES: 'gateway,engine,agents', PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.0/8' },
    PHASELINE_PUBLIC_URL: 'http://phaseline.example',
  }
  const server = stack.use(await startTestApp({ env }))
  const admin = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const done = async (phaseline: typeof admin, line: string, stdin = '') => {
    const { code, err } = await phaseline(line, { stdin })
    expect({ line, code, err }).toMatchObject({ code: 0 })
  }
  const tokenOf = async (name: string) =>
    (await ask(server.client, MUTATIONS.createToken, { name, role: 'USER', projects: ['staging', 'production'] }))
      .secret
  await done(admin, 'apply -f -', PROJECTS)
  await done(admin, 'apply -f -', rule(receiver.url))
  await done(admin, 'data set gate {"until":"2026-01-01T00:00:00Z"} --project staging')
  await done(admin, `data set freeze ${OPEN} --project staging`)
  await done(admin, `data set freeze ${FROZEN} --project production`)
  const [ann, bob] = [await tokenOf('ann'), await tokenOf('bob')]
  const author = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: ann })
  await done(author, 'apply -f - --set image=website:1.4', WEBSITE)
  await done(admin, 'watch staging/website')

  const browser = await openBrowser()
  const enter = (token: string, path: string) => visit(browser, { origin: server.origin, token }, path)
  let taken = 0
  const film = async ({ page }: Visit, what: string) => {
    expect(await seriousFindings(page)).toEqual([])
    taken += 1
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/promotion-${taken}-${what}.png` })
  }
  await using hers = stack.use(await enter(ann, '/projects?name=staging'))
  await film(hers, 'staging')
  await done(author, 'promote staging/website --carry image')
  await hers.page.goto(`${server.origin}/objects?project=production`)
  await hers.page.getByRole('link', { name: 'website' }).first().click()
  await hers.page
    .getByText(/Opens at/)
    .first()
    .waitFor()
  await film(hers, 'frozen')
  expect(receiver.received).toEqual([])

  await done(admin, 'cancel production/website --wait')
  await done(admin, `data set freeze ${OPEN} --project production`)
  await hers.page
    .getByText(/Ship it\?/)
    .first()
    .waitFor()
  await film(hers, 'asked')
  await until(() => receiver.received.length === 1, { what: 'somebody is told' })
  const { data } = JSON.parse(receiver.received[0]?.body ?? '{}') as { data: { url: string } }
  const { pathname, search, host } = new URL(data.url)
  expect(host).toBe('phaseline.example')

  // Bob follows the link of the message.
  await using his = stack.use(await enter(bob, `${pathname}${search}`))
  const panel = his.page.getByRole('complementary')
  await panel.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  await film(his, 'to-approve')
  await panel.getByRole('button', { name: 'Approve', exact: true }).click()
  await panel
    .getByText(/Approved by bob/)
    .first()
    .waitFor()
  await film(his, 'approved')
  await hers.page.getByText('SUCCEEDED').first().waitFor()
  await film(hers, 'live')
  await his.page.goto(`${server.origin}/`)
  await his.page.getByRole('heading', { level: 1 }).waitFor()
  await film(his, 'nothing-to-do')
  expect([...hers.complaints, ...his.complaints]).toEqual([])
  const { out } = await admin('get production/website/deploy-items/web')
  expect(out).toMatch(/runs: website:1.4/)
})
