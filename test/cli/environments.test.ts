import { createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WEEKDAYS } from '../../src/core/date-time.ts'
import { startTestApp } from '../testkit/app.ts'
import { startReceiver } from '../testkit/receiver.ts'
import { until } from '../testkit/wait.ts'
import { commandLine } from './command.ts'
import { PLAYED, playRuntime } from './played-runtime.ts'

/** docs/how-to/from-push-to-production.md, by its commands: two environments, an approval, a freeze and a notification. */

const SECRET = 'the-secret-of-the-forge'
const PROJECTS = `kind: Project
name: staging
promotesTo: production
workerTemplate: { runtime: ${PLAYED}, command: [sh, -c, make deploy] }
---
kind: Project
name: production
---
kind: Hook
name: github
project: staging
format: GITHUB
secrets: [{ name: first, env: GITHUB_SECRET }]
filter: headers["x-github-event"] == "push" && body.ref == "refs/heads/main" && !body.deleted
`
const rule = (url: string) => `kind: NotificationRule
name: approvals
project: production
changes: { reasons: [APPROVAL] }
receiver: { webhook: { url: "${url}", secret: SIGNING } }
`
const WEBSITE = `name: website
project: staging
spec:
  imports:
    - { name: image, schema: { type: string } }
    - { name: freeze, schema: { type: object } }
    - name: gate
      schema: { type: object, default: { approval: {}, message: "Ship it to production?" } }
  deployItems:
    - { name: hours, type: gate, config: { freeze: "\${imports.freeze}" } }
    - { name: go, type: gate, dependsOn: [hours], config: "\${imports.gate}" }
    - { name: web, type: mock, dependsOn: [go], config: { exports: { runs: "\${imports.image}" } } }
`
/** A day that is neither this one nor the next: in a freeze of all others it is frozen, whatever the hour. */
const FAR = WEEKDAYS[(new Date().getUTCDay() + 2) % 7] ?? 'MONDAY'
const hours = (days: readonly string[]) => JSON.stringify({ ranges: [{ days, from: '00:00', to: '00:00' }] })
const FROZEN = hours(WEEKDAYS.filter((day) => day !== FAR))
const OPEN = hours([FAR])

test('a push is built, deployed to staging, and promoted to production when the freeze is over and a person agrees', async () => {
  await using stack = new AsyncDisposableStack()
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-push-')), (path) => rm(path, { recursive: true }))
  const receiver = stack.use(await startReceiver())
  const server = stack.use(await startTestApp({ env: { PHASELINE_NOTIFICATION_NETWORKS: '127.0.0.0/8' } }))
  const runtime = stack.use(await playRuntime(server))
  const env = { PHASELINE_URL: server.url, GITHUB_SECRET: SECRET }
  const admin = commandLine({ ...env, PHASELINE_TOKEN: server.token })
  const done = async (phaseline: typeof admin, line: string, stdin = '') => {
    const { code, out, err } = await phaseline(line, { stdin })
    expect({ line, code, err }).toMatchObject({ code: 0 })
    return out
  }
  const as = async (name: string) => {
    const secret = await done(admin, `token create ${name} --role user --project staging --project production --quiet`)
    return commandLine({ ...env, PHASELINE_TOKEN: secret.trim() })
  }
  await done(admin, 'apply -f -', PROJECTS)
  await done(admin, 'secret set production SIGNING', 'whsec_c2lnbmluZy1zaWduaW5nLXNpZ25pbmc=')
  await done(admin, 'apply -f -', rule(receiver.url))
  const gate = '{"until":"2026-01-01T00:00:00Z"}'
  await done(admin, `data set gate ${gate} --project staging`)
  await done(admin, `data set freeze ${OPEN} --project staging`)
  await done(admin, `data set freeze ${FROZEN} --project production`)
  const [deployer, bob] = [await as('deployer'), await as('bob')]
  const manifest = join(folder, 'website.yaml')
  await writeFile(manifest, WEBSITE)

  /** A push, whose worker deploys to staging. */
  const push = async (commit: string, event: string) => {
    const body = JSON.stringify({ ref: 'refs/heads/main', after: commit, deleted: false })
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
    const posted = await fetch(new URL('/hooks/staging/github', server.url), {
      ...{ method: 'POST', body },
      headers: {
        ...{ 'content-type': 'application/json', 'x-github-event': 'push', 'x-github-delivery': commit },
        'x-hub-signature-256': signature,
      },
    })
    expect(posted.status).toBe(202)
    const worker = await runtime.start(event)
    const { after } = JSON.parse(String(worker.config.event.payload)) as { readonly after: string }
    await done(deployer, `apply -f ${manifest} --set image=website:${after} --wait`)
    return worker
  }
  const seen = async (part: string) => (await admin(`get production/website/deploy-items/${part}`)).out
  const shows = (part: string, text: string) =>
    until(async () => (await seen(part)).includes(text), { what: `${part} shows ${text}`, instead: () => seen(part) })

  const first = await push('c1', 'staging/event-1')
  // The order is that of the projects, and what was tested goes along.
  expect(await done(deployer, 'promote staging/website --carry image')).toBe(
    'production/website created (generation 1) from spec 1 of staging\n',
  )
  await runtime.end(first, 0)
  await shows('hours', 'Opens at')
  expect(receiver.received).toEqual([])
  await done(admin, 'cancel production/website --wait')
  // Its importers follow.
  await done(admin, `data set freeze ${OPEN} --project production`)
  await shows('go', 'Waits for an approval')
  expect(await admin('watch production/website')).toMatchObject({
    code: 5,
    out: expect.stringContaining('Ship it to production?'),
  })
  await until(() => receiver.received.length === 1, { what: 'somebody is told' })
  expect(receiver.received[0]?.body).toContain('Ship it to production?')
  expect(await deployer('approve production/website')).toMatchObject({ code: 3 })
  await done(bob, 'approve production/website')
  await done(admin, 'watch production/website')
  expect(await seen('web')).toMatch(/runs: website:c1/)

  const second = await push('c2', 'staging/event-2')
  expect((await admin('compare staging/website')).out).toContain('~ imports.image.value: "website:c1" → "website:c2"')
  expect(await deployer('promote staging/website --carry image --wait')).toMatchObject({
    code: 5,
    out: expect.stringContaining('Waits for an approval. Ship it to production?'),
  })
  await runtime.end(second, 0)
  await done(bob, 'approve production/website')
  await done(admin, 'watch production/website')
  expect(await seen('web')).toMatch(/runs: website:c2/)
  expect((await admin('compare staging/website')).out).toContain('the spec stays as it is')
  await until(() => receiver.received.length === 2, { what: 'the second approval is told as well' })
})
