import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { startTestApp } from '../testkit/app.ts'
import { commandLine } from './command.ts'

const SCHEDULES = {
  nightly: `{ labels: { team: build }, when: { cron: ["30 2 * * *", "0 12 * * 0"], timeZone: Europe/Berlin, until: "2100-01-01T00:00:00.000Z" },
    run: { createEvent: { source: cron, type: night, qualifiers: { branch: main }, labels: { when: night }, payload: "\${schedule.due}" } },
    count: 7, jitter: 1m30s, overlap: QUEUE, maxQueued: 3, catchUp: ALL, maxCaughtUp: 4, grace: 0s, successWithin: 2d }`,
  often: `{ when: { every: 1h, offset: 5m, start: "2026-01-01T00:00:00.000Z" }, run: { reconcileInstallation: { name: shop, mode: FORCE } }, grace: 2m }`,
  once: `{ when: { at: "2100-01-01T00:00:00.000Z" }, run: { createTask: { jobs: [
    { name: a, gadget: echo, args: ["yes", "0400"], env: { GADGET_WHEN: "no" }, when: "\${jobs.b.phase == 'DONE'}", dependsOn: [b], retry: { attempts: 3 } }, { name: b, gadget: echo, dependsOn: [] }] } } }`,
}
const RULES = {
  broken: `{ description: "says: it broke", changes: { kinds: [EVENT], to: [FAILED], classes: [FAILED], reasons: [x], rootsOnly: true, labels: { team: build } },
    receiver: { webhook: { url: "https://example.org/told", secret: signing } }, text: "\${change.name}", digest: 1h30m,
    quietHours: { timeZone: Europe/Berlin, ranges: [{ days: [SATURDAY, SUNDAY], from: "00:00", to: "00:00" }, { from: "22:00", to: "06:00" }] }, urgent: [FAILED], enabled: false }`,
  all: `{ receiver: { cloudEvents: { url: "https://example.org/events" } } }`,
  chat: `{ changes: { projects: [ci, default] }, receiver: { slack: { secret: chat } } }`,
  people: `{ receiver: { email: { to: [a@example.org, b@example.org] } } }`,
}
const LIMITS = {
  hosts: `{ description: "hosts of a test", max: 4, maxPerKey: 1, rate: { count: 10, per: 1m }, weights: { b: 2, a: 3 } }`,
  licences: `{ max: 2 }`,
  builds: `{ strategy: CANCEL_RUNNING, debounce: 30s }`,
}
const INVARIANTS = {
  'staging-first': `{ description: "first there", after: { project: default, name: shop, sameValues: [image, tag] } }`,
  plain: `{ after: { project: default } }`,
}
const KINDS = [
  ['limit', 'Limit', LIMITS],
  ['invariant', 'Invariant', INVARIANTS],
  ['schedule', 'Schedule', SCHEDULES],
  ['notification', 'NotificationRule', RULES],
] as const

test('the manifest that `export` prints makes the same again, with all that was in the first', async () => {
  await using app = await startTestApp()
  const phaseline = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: app.token })
  const done = async (line: string, stdin = '') => {
    const { out, err, code } = await phaseline(line, { stdin })
    expect({ line, err, code }).toEqual({ line, err: '', code: 0 })
    return out
  }
  await done('project apply -f -', '{ kind: Project, name: ci, workerTemplate: { command: ["true"] } }')
  for (const [command, kind, all] of KINDS)
    for (const [name, text] of Object.entries(all)) {
      const given = { kind, name, project: 'ci', ...(parse(text) as object) }
      await done(`${command} apply -f -`, JSON.stringify(given))
      const exported = await done(`${command} export ci/${name}`)
      expect(parse(exported)).toMatchObject(given)
      await done(`${command} delete ci/${name} --yes`)
      await done(`${command} apply -f -`, exported)
      expect(await done(`${command} export ci/${name}`)).toBe(exported)
    }
})

test('a word that the server does not have is named with its line, and holds up no other file', async () => {
  await using app = await startTestApp()
  const phaseline = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: app.token })
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-words-'))
  const rule = (name: string, kind: string) =>
    writeFile(
      join(folder, `${name}.yaml`),
      `name: ${name}\nchanges:\n  kinds: [${kind}]\nreceiver: { email: { to: [a@example.org] } }\n`,
    )
  await Promise.all([rule('a', 'FOO'), rule('b', 'EVENT')])
  const { out, err, code } = await phaseline(`notification apply -f ${folder}`)
  await rm(folder, { recursive: true })
  expect(err).toMatch(
    /^INVALID_INPUT: .*a\.yaml:3:11: input\.changes\.kinds\.0: Value "FOO" does not exist in "ObjectKind" enum/,
  )
  expect({ out, code }).toEqual({ out: 'rule default/b created\n', code: 2 })
})
