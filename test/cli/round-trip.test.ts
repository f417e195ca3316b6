import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  type Arbitrary,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  option,
  record,
  string,
  subarray,
  tuple,
} from 'fast-check'
import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { exportProjects } from '../../src/cli/manifests/export-documents.ts'
import { installations } from '../../src/cli/manifests/installations.ts'
import { withSession } from '../../src/cli/session.ts'
import { startTestApp } from '../testkit/app.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')
const SECRET = 'the-secret-of-the-sender'

let stack: AsyncDisposableStack
let server: ReachableServer
let phaseline: CommandLine

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, HOOK_SECRET: SECRET })
})
afterAll(() => stack.disposeAsync())

async function done(line: string, stdin = ''): Promise<string> {
  const { code, out, err } = await phaseline(line, { stdin })
  expect({ line, code, err }).toEqual({ line, code: 0, err: '' })
  return out
}
const lines = (text: string): readonly string[] => text.trimEnd().split('\n')
/** All of `text` is unchanged where it is applied, and nothing runs. */
async function expectUnchanged(text: string, flags = ''): Promise<void> {
  for (const line of lines(await done(`apply -f - ${flags}`.trim(), text))) {
    expect(line).toContain('unchanged')
    expect(line).not.toContain('runs again')
  }
}
const jobOf = async (path: string): Promise<unknown> => {
  const [{ jobId, generation, revision } = {}] = documents(await done(`get ${path} -o json`))
  return { jobId, generation, revision }
}
const deleted = (path: string) => done(`delete ${path} --without-uninstall --yes --wait`)

/** Values that YAML changes unless they are in quotes; `test/manifest/round-trip.test.ts` has more. */
const VALUE = constantFrom('yes', '0123', '2024-01-01', 'a\n\n', ' a', '<<', 7, 0.5, null, true, ['~', { y: 'n' }])
const TARGET = constantFrom<object>(
  {},
  { target: 'eu' },
  { target: 'us' },
  { targetSelector: { type: 'kubernetes', labels: [{ key: 'zone', value: 'yes' }] } },
)
const RETRY = constantFrom<object>(
  { attempts: 3 },
  { attempts: 2, backoff: { factor: 3 }, on: ['A', 'B'] },
  { attempts: 2, not: ['C'], attemptTimeoutMs: 1_000 },
)
const TIMEOUTS = constantFrom<object>(
  { pickup: { ms: 7 } },
  { progressing: { never: true }, aborting: { ms: 9 }, pickup: { never: true } },
)
const TIMES = constantFrom<object>(
  { intervalMs: 5_000 },
  { cron: ['30 2 * * *'], timeZone: 'Europe/Berlin' },
  { cron: ['0 3 * * *', '0 4 * * *'] },
)
const SETTINGS: Arbitrary<object> = record(
  {
    labels: constantFrom([], [{ key: 'team', value: 'yes' }]),
    description: string({ maxLength: 20 }),
    ignored: boolean(),
  },
  { requiredKeys: [] },
)
const AUTOMATIC: Arbitrary<object> = record(
  {
    afterSuccess: TIMES,
    afterFailure: tuple(TIMES, constantFrom({}, { attempts: 3 })).map(([times, more]) => ({ ...times, ...more })),
  },
  { requiredKeys: [] },
).filter((made) => Object.keys(made).length > 0)

const NAMES = ['a', 'yes', '_', 'Null']
const IMPORTS = ['i', 'no']
const all = <T>(made: readonly Arbitrary<T>[]): Arbitrary<T[]> => tuple(...made)

const item = (name: string, at: number): Arbitrary<object> => {
  const forEach = constantFrom([], ['x', 2, { name: 'y', on: null }], { k: [1] })
  const fields = { dependsOn: subarray(NAMES.slice(0, at)), config: VALUE, timeouts: TIMEOUTS, retry: RETRY, forEach }
  return tuple(TARGET, constantFrom('played', 'other'), record(fields, { requiredKeys: [] })).map(
    ([target, type, more]) => ({ name, type, ...target, ...more }),
  )
}
const items = integer({ min: 0, max: NAMES.length }).chain((count) => all(NAMES.slice(0, count).map(item)))
const exported = subarray(['x', 'On', 'z']).chain((names) =>
  all(names.map((name) => VALUE.filter((one) => one !== null).map((value) => ({ name, value })))),
)
const importOf = (name: string): Arbitrary<object> =>
  record(
    { from: constantFrom(`from-${name}`), required: boolean(), schema: constantFrom({ type: 'string' }) },
    {
      requiredKeys: [],
    },
  ).map((more) => ({ name, ...more }))

/** @param taken names of its imports; what is nested takes some of them, since others could never be satisfied */
function specWith(taken: readonly string[], depth: number): Arbitrary<object> {
  const nested = (name: string): Arbitrary<object> =>
    subarray([...taken]).chain((some) => specWith(some, depth - 1).map((spec) => ({ name, spec })))
  const installations = subarray(depth === 0 ? [] : ['n1', 'n2']).chain((names) => all(names.map(nested)))
  return tuple(TARGET, items, installations).map(([target, deployItems, below]) => ({
    ...target,
    ...{ deployItems, imports: taken.map((name) => ({ name })), installations: below },
  }))
}
const root: Arbitrary<object> = tuple(
  specWith(IMPORTS, 2),
  all(IMPORTS.map(importOf)),
  exported,
  option(AUTOMATIC),
  SETTINGS,
).map(([spec, imports, exports, automaticReconcile, settings]) => ({
  ...settings,
  spec: { ...spec, imports, exports, ...(automaticReconcile && { automaticReconcile }) },
}))

test('an installation that is exported is unchanged where it is, and after a deletion the same', async () => {
  const write = async (mutation: string, input: object): Promise<string> => {
    const name = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}`
    const { answer } = await server.client.query<{ answer: { id?: string; message?: string } }>(
      `mutation ($input: ${name}Input!) { answer: ${mutation}(input: $input) { ... on Installation { id } ... on Error { message } } }`,
      { input: { reconcile: false, ...input } },
    )
    if (answer.id === undefined) throw new Error(answer.message)
    return answer.id
  }
  let count = 0
  await assert(
    asyncProperty(root, async (input) => {
      count += 1
      // In a project of its own: roots of one may not export the same.
      const project = `generated-${count}`
      const path = `${project}/root`
      await done(`project create ${project}`)
      await write('createInstallation', { project, name: 'root', ...input })
      const [manifest, shown] = [await done(`export ${path}`), await jobOf(path)]
      const shapes = [manifest, await done(`get ${path} -o yaml`), await done(`get ${path} -o json`)]
      for (const text of [...shapes, await done(`export ${path} -o json`)])
        await expectUnchanged(text, '--no-reconcile')
      expect(await jobOf(path)).toEqual(shown)
      // Nothing happens to an ignored one.
      const [found] = documents(await done(`get ${path} -o json`))
      await write('updateInstallation', { id: found?.id, ignored: false })
      await deleted(path)
      await done('apply -f - --no-reconcile', shapes[count % shapes.length])
      expect(await done(`export ${path}`)).toBe(manifest)
    }),
    { numRuns: soak(8, 400) },
  )
})

test('what runs, or has run, begins no job when its manifest is applied again; what has not, does', async () => {
  const install = (more: string) => `{ name: settled, spec: { exports: [{ name: settled, value: 1 }]${more} } }`
  const path = 'default/settled'
  await done('apply -f - --no-reconcile', install(''))
  expect(await done('apply -f - --wait', install(''))).toContain('settled unchanged (generation 1), runs again\n')
  const before = await jobOf(path)
  for (const text of [await done(`export ${path}`), await done(`get ${path} -o yaml`)]) await expectUnchanged(text)
  expect(await jobOf(path)).toEqual(before)
  // Its item is taken by nobody.
  await done('apply -f -', install(', deployItems: [{ name: a, type: taken-by-nobody }]'))
  await until(async () => /INIT/.test((await phaseline(`get ${path}/deploy-items/a`)).out), {
    what: 'its job has begun',
  })
  const { jobId } = (await jobOf(path)) as { jobId: string }
  await expectUnchanged(await done(`export ${path}`))
  expect(await jobOf(path)).toMatchObject({ jobId, generation: 2 })
  await done(`cancel ${path} --wait`)
  expect(await done('apply -f -', await done(`export ${path}`))).toContain('unchanged (generation 2), runs again')
})

/** The files below a folder whose documents are of the kinds that can be applied or run. */
async function manifestsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true })
  const files = entries
    .filter((name) => name.endsWith('.yaml') && !/(?:^|\/)node_modules\//.test(name))
    .map((name) => join(folder, name))
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  // Specs of clusters and apps are no manifests.
  return files.filter((_, at) => /^(?:name|kind):/m.test(texts[at] ?? '')).toSorted()
}
const kindsIn = (text: string): readonly string[] =>
  parseAllDocuments(text).map((document) =>
    String((document.toJS() as { kind?: string } | null)?.kind ?? 'Installation'),
  )

test('all that the examples make is exported, deleted and made again, the same', async () => {
  await using app = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  const { url, token } = app
  const own = commandLine({ PHASELINE_URL: url, PHASELINE_TOKEN: token, GITHUB_SECRET: SECRET })
  const call = async (line: string, stdin = ''): Promise<string> => {
    const { code, out, err } = await own(line, { stdin })
    expect({ line, code, err }).toEqual({ line, code: 0, err: '' })
    return out
  }
  const names = async (line: string) => lines(await call(`${line} -o name --limit 500`))
  const files = await manifestsIn(EXAMPLES)
  const read = await Promise.all(files.map(async (file) => ({ file, kinds: kindsIn(await readFile(file, 'utf8')) })))
  expect(new Set(read.flatMap(({ kinds }) => kinds))).toEqual(new Set(['Installation', 'Project', 'Hook', 'Task']))
  const projects = read.filter(({ kinds }) => kinds.includes('Project'))
  for (const { file, kinds } of [...projects, ...read.filter((one) => !projects.includes(one))]) {
    // Two examples have installations of the same name.
    const project = basename(dirname(file))
    if ((await own(`project get ${project}`)).code !== 0) await call(`project create ${project}`)
    await call(`${kinds.includes('Task') ? 'task run' : 'apply --no-reconcile'} -f ${file} --project ${project}`)
  }
  const whole = await own('export -A')
  expect(whole).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^The manifest of hook ci\/github lacks the values/),
  })
  expect(whole.out).not.toContain(SECRET)
  for (const line of lines(await call('apply --no-reconcile -f -', whole.out))) expect(line).toContain('unchanged')
  const tasks = await names('task list')
  const manifests = await Promise.all(tasks.map((task) => call(`task export ${task}`)))
  expect(tasks).toHaveLength(read.filter(({ kinds }) => kinds.includes('Task')).length)

  for (const root of await names('get --kind installation --roots'))
    await call(`delete ${root} --without-uninstall --yes --wait`)
  for (const task of tasks) {
    await call(`task cancel ${task} --wait`)
    await call(`task delete ${task} --wait --yes`)
  }
  await call('hook delete ci/github --yes')
  for (const project of await names('project list'))
    if (project !== 'default') await call(`project delete ${project} --yes`)
  expect((await own('export -A')).out).not.toMatch(/kind: (?!Project)/)
  const supplied = whole.out.replace('secrets:\n  - name: first\n', (all) => `${all}    env: GITHUB_SECRET\n`)
  await call('apply --no-reconcile -f -', supplied)
  for (const [at, manifest] of manifests.entries()) {
    await call('task run -f -', manifest)
    expect(await call(`export ${tasks[at]}`)).toBe(manifest)
  }
  expect((await own('export -A')).out).toBe(whole.out)
})

test('an export is read in pages, and what cannot be read is named and holds up nothing else', async () => {
  const env = { PHASELINE_ROLES: 'gateway,engine', PHASELINE_MAX_ANSWER_BYTES: '262144' }
  await using app = await startTestApp({ env })
  const own = commandLine({ PHASELINE_URL: app.url, PHASELINE_TOKEN: app.token })
  const made = Array.from({ length: 110 }, (_, at) => ({
    name: `m${at}`,
    spec: { deployItems: [{ name: 'a', type: 'played', config: 'x'.repeat(at === 60 ? 270_000 : 3_000) }] },
  }))
  const stdin = made.map((one) => `${JSON.stringify(one)}\n`).join('')
  expect(await own('apply -f - --no-reconcile', { stdin })).toMatchObject({ code: 0, err: '' })
  const { code, out, err } = await own('export')
  expect({ code, err }).toEqual({ code: 3, err: expect.stringMatching(/^ANSWER_TOO_LARGE: default\/m60: [^\n]*\n$/) })
  const names = lines(out).flatMap((line) => /^name: (m\d+)$/.exec(line)?.[1] ?? [])
  expect(names.toSorted()).toEqual(made.flatMap(({ name }) => (name === 'm60' ? [] : name)).toSorted())
  const some = await own('export m1 default/nowhere m2')
  expect(some).toMatchObject({ code: 3, err: expect.stringMatching(/NOT_FOUND: There is no object default\/nowhere/) })
  expect(lines(some.out).filter((line) => line.startsWith('name:'))).toEqual(['name: m1', 'name: m2'])
})

test('an object that is gone by the time that it is read is left out, and a remark says so', async () => {
  await done('project create vanishing')
  await done(
    'apply -f - --no-reconcile',
    '{ name: stays, project: vanishing, spec: { exports: [{ name: last, value: "a\\n\\n" }] } }',
  )
  let [out, err] = ['', '']
  const io = {
    stdout: { write: (text: string | Uint8Array) => (out += text) },
    stderr: { write: (text: string | Uint8Array) => (err += text) },
    stdin: (async function* () {})(),
    env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token },
    signal: new AbortController().signal,
  }
  const withGhost: typeof installations = {
    ...installations,
    async *list(...given) {
      for await (const page of installations.list(...given)) yield [{ id: v7(), name: 'ghost' }, ...page]
    },
  }
  expect(await withSession(io, {}, (session) => exportProjects(session, [withGhost], ['vanishing']))).toBe(0)
  expect(out).toMatch(/^name: stays\n[\s\S]*value: \|\+\n +a\n\n$/m)
  expect(err).toBe('vanishing/ghost is gone meanwhile: it is left out.\n')
})

test('kinds that one may not read are named, and all others are exported', async () => {
  const token = (await done('token create exporter --role agent --type played --quiet')).trim()
  const { code, out, err } = await phaseline('export --project vanishing', {
    env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: token },
  })
  expect(code).toBe(3)
  expect(out).toContain('name: stays\n')
  expect(err).toMatch(/^FORBIDDEN: Hook of project vanishing: .*VIEWER/m)
  expect(err).toMatch(/^FORBIDDEN: NotificationRule of project vanishing: /m)
  expect(await phaseline('export --project nowhere')).toMatchObject({ code: 3, out: '' })
})

test('what `get` prints of an object without a manifest is refused by its kind', async () => {
  await done('apply -f - --no-reconcile', '{ name: nesting, spec: { installations: [{ name: inner, spec: {} }] } }')
  await done('reconcile nesting --wait')
  const nested = await phaseline('apply -f -', { stdin: await done('get nesting/inner -o yaml') })
  expect(nested).toMatchObject({ code: 2, err: expect.stringMatching(/parent: must be null: what is nested is in/) })
  expect(await phaseline('export nesting/inner')).toMatchObject({
    ...{ code: 2, out: '' },
    err: expect.stringContaining('nesting/inner is nested: export its root, default/nesting.'),
  })
  await done('cloudlet create edge')
  const cloudlet = await phaseline('apply -f -', { stdin: await done('get edge -o json') })
  expect(cloudlet).toMatchObject({ code: 2, err: expect.stringMatching(/kind: must be Project, /) })
  expect(await phaseline('export edge')).toMatchObject({
    code: 2,
    err: expect.stringContaining('of the kind cloudlet'),
  })
  const edited = (await done('get nesting -o yaml')).replace('spec:', 'spec:\n  typo: 1')
  expect(await phaseline('plan -f -', { stdin: edited })).toMatchObject({
    err: expect.stringMatching(/Unrecognized key: "typo"/),
  })
  const broken = (await done('get nesting -o yaml')).replace(/^labels: \[\]$/m, 'labels: 7')
  expect(await phaseline('plan -f -', { stdin: broken })).toMatchObject({
    err: expect.stringMatching(/is not as `get` prints it/),
  })
})

test('records and projects are taken from what their commands show, too', async () => {
  await done(
    'project apply -f -',
    '{ name: shown, workerTemplate: { command: ["true"], env: { __proto__: yes, N: "0123" } }, limits: { maxWorkers: 2 } }',
  )
  await done('secret set shown TOKEN', 'value')
  await done('data set region eu --text --project shown')
  await done(
    'apply -f - --project shown',
    `{ kind: Hook, name: h, format: GENERIC, secrets: [{ name: first, env: HOOK_SECRET }], filter: "body.ok" }
---
{ kind: NotificationRule, name: r, receiver: { slack: { secret: TOKEN } }, digest: 1h30m }
---
{ kind: Limit, name: l, max: 3, description: few, rate: { count: 2, per: 1m30s }, weights: { b: 2, a: 3 } }
---
{ kind: Schedule, name: s, when: { every: 1h }, run: { createEvent: { source: cron, type: "yes", payload: "a\\n\\n" } } }
`,
  )
  for (const shown of [
    'project get shown',
    'hook get shown/h',
    'notification get shown/r',
    'limit get shown/l',
    'schedule get shown/s',
    'get shown/s',
  ])
    for (const form of ['yaml', 'json']) await expectUnchanged(await done(`${shown} -o ${form}`))
  const whole = await phaseline('export --project shown')
  expect(whole.err).toBe(
    [
      'The manifest of project shown lacks its secrets TOKEN: where it is new, `phaseline secret set shown NAME` sets each.',
      'The manifest of project shown lacks its data region: where it is new, `phaseline data set NAME JSON --project shown` sets each.',
      'The manifest of hook shown/h lacks the values of first: where it is new, give each an `env` or a `file`.',
      '',
    ].join('\n'),
  )
  await expectUnchanged(whole.out)
  expect((await phaseline('export --project shown -o yaml')).err).toBe(whole.err)
  const records = await phaseline('export shown/r shown/h')
  expect(records.code).toBe(0)
  expect(records.out).toBe((await done('notification export shown/r')) + (await phaseline('hook export shown/h')).out)
  const one = await phaseline('project export shown')
  expect(whole.out.startsWith(one.out)).toBe(true)
})
