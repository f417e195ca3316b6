import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

const SECRET = 'the-secret-of-the-sender'
const EXAMPLES = join(import.meta.dirname, '../../examples')

let stack: AsyncDisposableStack
let server: ReachableServer
let phaseline: CommandLine
let folder: string

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-apply-')), (path) => rm(path, { recursive: true }))
  server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, HOOK_SECRET: SECRET })
})
afterAll(() => stack.disposeAsync())

/** In an order in which it could not be written. */
const shopIn = (project: string): string => `kind: NotificationRule
name: failures
changes: { classes: [FAILED, FAILED], labels: { team: shop } }
receiver: { email: { to: [shop@example.org] } }
quietHours: { ranges: [{ from: "22:00", to: "06:00" }] }
---
kind: Hook
name: github
format: GENERIC
signature: { header: X-Signature }
secrets: [{ name: first, env: HOOK_SECRET }]
event: { source: acme, type: push, labels: { by: hook } }
---
kind: Schedule
name: nightly
labels: { team: shop }
when: { cron: "30 2 * * *", until: "2100-01-01T00:00:00Z" }
run: { reconcileInstallation: { name: shop } }
---
name: shop
labels: { team: shop }
spec: { exports: [{ name: color, value: red }] }
---
kind: Project
name: ${project}
limits: { maxWorkers: 2 }
`
const lines = (text: string): readonly string[] => text.trimEnd().split('\n')
const done = async (line: string, stdin = '') => {
  const { code, out, err } = await phaseline(line, { stdin })
  expect({ line, code, err }).toEqual({ line, code: 0, err: '' })
  return lines(out)
}
const AT = String.raw`\d{4}-\S+Z`

test('a file of all kinds is planned, created in order, unchanged the second time, and edited in parts', async () => {
  const file = shopIn('edited')
  const apply = (text: string, command = 'apply') => done(`${command} -f - --project edited`, text)
  const would = [
    'project edited',
    'edited/shop',
    'rule edited/failures',
    'hook edited/github',
    'schedule edited/nightly',
  ]
  expect((await apply(file, 'plan')).toSorted()).toEqual(would.map((one) => `${one} would be created`).toSorted())
  expect(await phaseline('project get edited')).toMatchObject({ code: 3 })

  // Windows writes other ends of lines.
  const created = await apply(file.replaceAll('\n', '\r\n'))
  expect(created.slice(0, 2)).toEqual(['project edited created', 'edited/shop created (generation 1)'])
  expect(created.slice(2)).toEqual([
    `hook edited/github created, deliveries go to ${new URL('/hooks/edited/github', server.url).href}`,
    expect.stringMatching(new RegExp(`^schedule edited/nightly created, now ACTIVE, next at ${AT}$`)),
    'rule edited/failures created',
  ])

  const unchanged = [
    'project edited unchanged',
    'edited/shop unchanged (generation 1)',
    'hook edited/github unchanged',
    expect.stringMatching(/^schedule edited\/nightly unchanged, now ACTIVE/),
    'rule edited/failures unchanged',
  ]
  expect(await apply(file)).toEqual(unchanged)
  const planned = [
    'hook edited/github unchanged; secrets: not compared',
    'schedule edited/nightly unchanged',
    'rule edited/failures unchanged',
  ]
  // A plan says what `apply` has just said: it begins no job.
  expect(await apply(file, 'plan')).toEqual([
    'project edited unchanged',
    'edited/shop unchanged: nothing would run',
    ...planned,
  ])
  expect(await apply(file, 'diff')).toEqual([
    'project edited unchanged',
    'edited/shop: the spec stays as it is',
    ...planned,
  ])

  const edited = file
    .replace('maxWorkers: 2', 'maxWorkers: 3')
    .replace('value: red', 'value: blue')
    .replace('{ team: shop }\nwhen: { cron: "30 2', '{ team: night }\nwhen: { cron: "40 2')
    .replace('type: push', 'type: tag')
    .replace('[FAILED, FAILED]', '[FAILED, STOPPED]')
  const shown = await apply(edited, 'diff')
  for (const line of [
    'project edited would be updated (limits)',
    '~ limits.maxWorkers: 2 → 3',
    'schedule edited/nightly would be updated (labels, when)',
    '~ labels.team: "shop" → "night"',
    '~ when.cron.0: "30 2 * * *" → "40 2 * * *"',
    'hook edited/github would be updated (event); secrets: not compared',
    '~ event.type: "push" → "tag"',
    'rule edited/failures would be updated (changes)',
    '+ changes.classes.1: "STOPPED"',
  ])
    expect(shown).toContain(line)
  expect(await apply(edited)).toEqual([
    'project edited updated (limits)',
    'edited/shop updated (generation 2)',
    'hook edited/github updated (event)',
    expect.stringMatching(/^schedule edited\/nightly updated \(labels, when\), now ACTIVE/),
    'rule edited/failures updated (changes)',
  ])
  expect((await apply(edited)).map((line) => line.includes('unchanged'))).toEqual([true, true, true, true, true])
  const relabelled = edited.replace('name: shop\nlabels: { team: shop }', 'name: shop\nlabels: { team: day }')
  expect(await apply(relabelled, 'plan')).not.toContain('edited/shop unchanged: nothing would run')
  expect((await apply(relabelled))[1]).toMatch(/^edited\/shop updated \(generation \d\)$/)

  const { out } = await phaseline('apply -f - --project edited', {
    stdin: edited,
    env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, HOOK_SECRET: 'another-secret-of-it' },
  })
  expect(out).toContain('hook edited/github updated (secrets)\n')
  expect(phaseline.transcript()).not.toMatch(/the-secret-of|another-secret/)
})

test('a refused document holds up none but those that need it, and the exit code tells', async () => {
  const file = shopIn('refused')
    .replace('value: red', 'value: "${"')
    .replace('receiver: { email: { to: [shop@example.org] } }', 'receiver: { email: { to: [nobody] } }')
  const { code, out, err } = await phaseline('apply -f - --project refused', { stdin: file })
  expect(code).toBe(3)
  expect(lines(out)).toEqual(['project refused created', expect.stringMatching(/^hook refused\/github created/)])
  expect(err).toMatch(/INVALID_INPUT: refused\/shop: .*<stdin>:22:\d+/)
  expect(err).toMatch(/INVALID_INPUT: rule refused\/failures: .*<stdin>:4:\d+/)
  expect(err).toContain(
    'NOT_READY: schedule refused/nightly: nothing was done, since the Installation shop was refused.',
  )

  const none = await phaseline('apply -f - --project No!', { stdin: shopIn('No!') })
  expect([none.code, none.out]).toEqual([3, ''])
  expect(none.err.match(/since the Project No! was refused/g)).toHaveLength(4)
})

test('what a text for a shell has is named in lines of their own, with their places, and how it is written', async () => {
  const run = `echo ${'$'}{HOST} ${'$'}{PORT:-1} ${'$'}{HOST}`
  const item = `  - name: m\n    type: mock\n    config:\n      text: |\n        #!/bin/sh\n        ${run}\n`
  const { code, err } = await phaseline('apply -f -', { stdin: `name: shell\nspec:\n  deployItems:\n${item}` })
  const at = (column: number) =>
    `  <stdin>:7:13: input.spec.deployItems.0.config.text: line 2, column ${column} of the text:`
  const unknown = 'HOST is not known: an expression may speak of imports, deployItems, installations, each'
  const literal = `(a literal ${'$'}{ is written $${'$'}{)`
  expect({ code, err: lines(err) }).toEqual({
    code: 2,
    err: [
      'INVALID_INPUT: default/shell: 3 problems',
      `${at(6)} ${unknown} ${literal}`,
      `${at(14)} the expression has a syntax error near character 5 ${literal}`,
      `${at(25)} ${unknown} ${literal}`,
    ],
  })
})

test('input that no request can hold is invalid, with its place, for a preview as well, and not for trying again', async () => {
  const long = 'x'.repeat(2 ** 20 + 1)
  const preview = async (text: string) => {
    const [applied, planned] = [
      await phaseline('apply -f -', { stdin: text }),
      await phaseline('plan -f -', { stdin: text }),
    ]
    expect(planned).toEqual(applied)
    return applied
  }
  const config = `name: a\nspec:\n  deployItems:\n  - { name: a, type: mock, config: { text: ${long} } }\n`
  const [tooLarge, tooLong] = [
    await preview(config),
    await preview('kind: Project\nname: a\nworkerTemplate: { command: [a], timeout: 720h }\n'),
  ]
  expect(tooLarge).toMatchObject({
    code: 2,
    err: expect.stringMatching(/<stdin>:4:\d+: spec\.deployItems\.0\.config: is larger than 1048576 characters/),
  })
  expect(tooLong).toMatchObject({
    code: 2,
    err: expect.stringMatching(/<stdin>:3:\d+: workerTemplate\.timeout: must be at most 24d20h31m23s647ms/),
  })
  const env = `kind: Project\nname: a\nworkerTemplate: { command: [a], env: { A: ${long} } }\n`
  expect(await phaseline('apply -f -', { stdin: env })).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^INVALID_INPUT: project a: <stdin>:2:\d+: A text of the request has more than/),
  })
  expect(await phaseline(`tree ${'x'.repeat(300)}`)).toMatchObject({
    code: 2,
    err: 'INVALID_INPUT: path.0: must have at most 255 characters, not 300\n',
  })
})

test('nothing is sent of files with a document that cannot be read, is no kind, or needs a secret that is not there', async () => {
  const env = { PHASELINE_URL: 'http://127.0.0.1:1/graphql', PHASELINE_TOKEN: 'none' }
  const task = 'kind: Task\nname: t\njobs: [{ name: a, gadget: echo }]\n'
  const { code, err } = await phaseline('apply -f -', {
    env,
    stdin: `${task}---\nkind: Cron\nname: c\n---\nkind: Hook\nname: h\nformat: OTHER\n`,
  })
  expect(code).toBe(2)
  expect(err).toContain(
    '<stdin>:1:7: document 1: kind: is run, not applied, each time anew: use phaseline task run -f FILE',
  )
  expect(err).toMatch(/<stdin>:5:7: document 2: kind: must be Project, Installation, .*NotificationRule or Hook/)
  expect(err).toContain('<stdin>:10:9: document 3: format')
  const hook = shopIn('x')
  const secret = await phaseline('apply -f -', { env, stdin: hook })
  expect(secret).toMatchObject({
    code: 2,
    err: expect.stringContaining('<stdin>:11:31: secrets.0.env: is to come from'),
  })
  const foreign = await phaseline('schedule apply -f -', { env, stdin: hook })
  expect(foreign.err).toContain('<stdin>:7:7: document 2: kind: is of another kind: use phaseline apply -f FILE')
  const twice = await phaseline('apply -f -', { env, stdin: `${hook}---\n${hook}`.replaceAll(/, env: \w+/g, '') })
  expect(twice.err).toContain('hook default/github is described at <stdin>:8:7 already')
})

const installation = (name: string, rest = 'labels: { set: a, at: shop }', spec = '{}') =>
  `---\nname: ${name}\n${rest}\nspec: ${spec}\n`
const schedule = (name: string) =>
  `---\nkind: Schedule\nname: ${name}\nlabels: { set: a }\nwhen: { every: 1d }\nrun: { reconcileInstallation: { name: kept } }\n`

test('--prune deletes what has the labels and is in no file, in this project alone, and says so before', async () => {
  await done('apply -f -', '{ kind: Project, name: pruned }\n---\n{ kind: Project, name: beside }')
  const kept = installation('kept')
  const all = [
    ...[kept, installation('old'), installation('other', 'labels: { set: b }'), installation('plain', '')],
    ...[schedule('daily'), schedule('weekly'), shopIn('pruned').split('---\n')[0]],
  ].join('')
  await done('apply -f - --project pruned --wait', all.replace('kind: NotificationRule', '---\nkind: NotificationRule'))
  await done('apply -f - --project beside --wait', kept + installation('old'))
  const now = kept + schedule('daily')
  const names = async (project: string) =>
    ((documents((await phaseline(`get --project ${project} --json`)).out)[0]?.objects ?? []) as { name: string }[])
      .map(({ name }) => name)
      .toSorted()
  const before = await names('pruned')

  expect(await phaseline('apply -f - --prune', { stdin: now })).toMatchObject({ code: 2, out: '' })
  const none = await phaseline('apply -f - --project pruned --prune --selector set=a,at=shop', {
    stdin: `${now}${installation('bad', '', '{ exports: [{ name: a, value: "${" }] }')}`,
  })
  expect(none).toMatchObject({
    code: 2,
    err: expect.stringContaining('Nothing is pruned, since a document was refused.'),
  })
  const would = ['Schedule pruned/weekly would be deleted', 'Installation pruned/old would be deleted']
  for (const command of ['plan', 'apply --dry-run'])
    expect((await done(`${command} -f - --project pruned --prune --selector set=a`, now)).slice(-2)).toEqual(would)
  expect(await names('pruned')).toEqual(before)

  const [, , ...deleted] = await done('apply -f - --project pruned --prune --selector set=a --wait --yes', now)
  expect(deleted).toContain('Schedule pruned/weekly asked to be deleted')
  expect(deleted).toContain('Installation pruned/old asked to be deleted')
  const left = before.filter((name) => name !== 'old' && name !== 'weekly')
  await until(async () => (await names('pruned')).length === left.length, { what: 'they are gone' })
  expect(await names('pruned')).toEqual(left)
  expect(await names('beside')).toEqual(['kept', 'old'])
  expect(await phaseline('notification get pruned/failures')).toMatchObject({ code: 0 })
})

test('an update says what others have changed since the caller wrote it last, and the command that shows it', async () => {
  const { secret } = await ask(server.client, MUTATIONS.createToken, { name: 'anna', role: 'USER' })
  const anna = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: secret })
  const spec = (value: string) => JSON.stringify({ name: 'shared', spec: { exports: [{ name: 'color', value }] } })
  await done('apply -f -', spec('red'))
  expect(await anna('apply -f -', { stdin: spec('green') })).toMatchObject({ code: 0, err: '' })
  expect(await anna('apply -f -', { stdin: spec('blue') })).toMatchObject({ code: 0, err: '' })

  const { code, out, err } = await phaseline('apply -f -', { stdin: spec('red') })
  expect({ code, out }).toEqual({ code: 0, out: 'shared updated (generation 4)\n' })
  const [, command = ''] =
    /^shared: this replaces what anna has changed since \S+Z \(.* ago\)\. To see that: phaseline (.*)\n$/.exec(err) ??
    []
  expect((await phaseline(command)).out).toMatch(/exports.*red.*blue/s)
  // Nobody else has changed it since.
  expect(await done('apply -f -', spec('yellow'))).toEqual(['shared updated (generation 5)'])
  await anna('apply -f -', { stdin: spec('green') })
  const [written] = documents((await phaseline('apply -f - --json', { stdin: spec('red') })).out)
  expect(written).toMatchObject({ action: 'updated', overwritten: { by: ['anna'] } })
})

test('what imports from a superfluous installation keeps it, as the server says', async () => {
  const exporter = installation('exporter', 'labels: { set: c }', '{ exports: [{ name: c, value: 1 }] }')
  const importer = installation('importer', '', '{ imports: [{ name: c }] }')
  await done('apply -f - --wait', exporter + importer)
  const { code, out } = await phaseline('apply -f - --prune --selector set=c --wait', { stdin: importer })
  expect(code).toBe(1)
  expect(out).toContain('Installation default/exporter asked to be deleted')
  expect((await phaseline('get exporter')).out).toMatch(/SIBLING_IMPORT/)
})

test('the documents that `export` prints are unchanged when they are applied, those of all examples too', async () => {
  await done('apply -f -', '{ kind: Project, name: exported }')
  const examples = [
    'webshop/webshop',
    'manifests/slow',
    'ci/project',
    'ci/repository',
    'init/greeting',
    'kubernetes/webshop',
  ]
  for (const name of examples)
    await done(`apply -f ${join(EXAMPLES, `${name}.yaml`)} --project exported --no-reconcile`)
  await done(
    'apply -f - --project exported --no-reconcile',
    shopIn('exported').replace('name: shop\nl', 'name: store\nl').replace('{ name: shop }', '{ name: store }'),
  )
  const file = join(folder, 'exported.yaml')
  const exported = (await phaseline('export --project exported')).out
  expect(exported).not.toContain(SECRET)
  await writeFile(file, exported)
  const again = await done(`apply -f ${file} --no-reconcile`)
  expect(again.length).toBeGreaterThan(examples.length)
  for (const line of again) expect(line).toContain('unchanged')
  for (const kind of ['Schedule', 'Hook', 'NotificationRule']) expect(exported).toContain(`kind: ${kind}\n`)
  const selected = (await phaseline('export --project exported --selector team=shop')).out
  expect(lines(selected).filter((line) => line.startsWith('name: '))).toEqual(['name: store', 'name: nightly'])
  expect((await phaseline('export --project exported')).out).toBe(exported)
})
