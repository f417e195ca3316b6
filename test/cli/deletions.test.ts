import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { commandLine } from './command.ts'

const DOCUMENTS = `kind: Project
name: web
---
kind: Hook
project: web
name: push
format: GENERIC
signature: { header: X }
secrets: [{ name: one, env: HOOK_SECRET }]
event: { source: acme, type: push }
---
kind: NotificationRule
project: web
name: chat
changes: { rootsOnly: true }
receiver: { email: { to: [shop@example.org] } }
---
{ kind: Limit, project: web, name: hosts, max: 1 }
`

test('what destroys asks at a terminal, and announces --yes where there is none', async () => {
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  const env = { PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, HOOK_SECRET: 'x'.repeat(32) }
  const phaseline = commandLine(env)
  const made: readonly (readonly [line: string, stdin: string])[] = [
    ['apply -f -', DOCUMENTS],
    ['target set eu --type mock --project web', ''],
    ['secret set web KEY', 'value'],
    ['data set url "x" --project web', ''],
    ['token create bot --role reader --quiet', ''],
  ]
  for (const [line, stdin] of made) expect(await phaseline(line, { stdin })).toMatchObject({ code: 0, err: '' })

  const deletions: readonly (readonly [line: string, question: string])[] = [
    ['hook delete web/push', 'Delete hook web/push with its secrets and deliveries? [y/N] '],
    ['notification delete web/chat', 'Delete rule web/chat with its messages? [y/N] '],
    ['limit delete web/hosts', 'Delete limit web/hosts with its queue? [y/N] '],
    ['target delete web/eu', 'Delete target web/eu with its credentials? [y/N] '],
    ['secret delete web KEY', 'Delete secret web/KEY? [y/N] '],
    ['data delete url --project web', 'Delete data web/url? [y/N] '],
    ['token revoke bot', 'Revoke token bot ('],
    ['project delete web', 'Delete project web with its secrets and data? [y/N] '],
  ]
  for (const [line, question] of deletions) {
    const asked = await phaseline(line, { typed: 'n\n' })
    expect([line, asked.code, asked.out, asked.err.slice(0, question.length)]).toEqual([line, 130, '', question])
    const done = await phaseline(line)
    expect([line, done.code, done.err]).toEqual([line, 0, expect.stringContaining('will need --yes here')])
    expect(await phaseline(line)).toMatchObject({ code: 3 })
  }
  expect(await phaseline('cache delete web sum', { typed: 'n\n' })).toMatchObject({
    code: 130,
    err: 'Delete sum from the cache of web? [y/N] ',
  })
})

test('a deletion that waits for a job, also for another deletion, says so, and how that job ends', async () => {
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const spec = { deployItems: [{ name: 'db', type: 'nobody-takes' }] }
  await phaseline('apply -f -', { stdin: JSON.stringify({ name: 'shop', spec }) })
  const begins = 'Its deletion begins once the running job has ended'
  const hint = 'To end that job: phaseline cancel shop\n'
  expect((await phaseline('delete shop --yes')).err).toBe(`${begins}. ${hint}`)
  const removing = await phaseline('delete shop --without-uninstall --yes')
  expect(removing).toMatchObject({ code: 0, err: `${begins}, without uninstalling anything. ${hint}` })
  expect(await phaseline('cancel shop')).toMatchObject({ code: 0 })
})

test('a deletion that fails says how to go on', async () => {
  await using server = await startTestApp()
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const spec = { deployItems: [{ name: 'db', type: 'mock', config: { deleteFail: true } }] }
  expect(await phaseline('apply -f - --wait', { stdin: JSON.stringify({ name: 'shop', spec }) })).toMatchObject({
    code: 0,
  })
  expect(await phaseline('delete shop --wait --yes')).toMatchObject({
    code: 1,
    err: 'It is still there. To try again: phaseline delete shop. With --without-uninstall, what is deployed stays where it is.\n',
  })
  expect(await phaseline('delete shop --without-uninstall --wait --yes')).toMatchObject({ code: 0, err: '' })
})
