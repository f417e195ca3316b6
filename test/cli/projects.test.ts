import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseDuration } from '../../src/core/parse-duration.ts'
import { describeProblem, parseManifests } from '../../src/manifest/index.ts'
import { startTestApp } from '../testkit/app.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

const TOKEN = 'the-command-lines-administrator'

let stack: AsyncDisposableStack
let server: ReachableServer
let folder: string
let phaseline: CommandLine

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-projects-')), (path) => rm(path, { recursive: true }))
  server = stack.use(await startTestApp({ token: TOKEN }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN })
})
afterAll(() => stack.disposeAsync())

const WEB = `
kind: Project
name: web
workerTemplate:
  command: [node, ci/run.mjs]
  args: ["--all"]
  env: { B: "2", A: "1" }
  files:
    - { path: ci/run.mjs, from: scripts/run.mjs }
    - { path: note, content: "hello" }
  timeout: 1h30m
  workspace: true
subscriptions:
  - { source: acme, types: [push, tag, push], qualifiers: { branch: main }, labels: { z: "1", a: "2" } }
  - source: cron
    types: ["*"]
    task: { jobs: [{ name: sweep, gadget: sweep, env: { GADGET_A: "1" } }, { name: mop, gadget: mop, dependsOn: [] }] }
limits: { maxWorkers: 2 }
`
async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}
const read = async (name: string) => documents((await phaseline(`project get ${name} --json`)).out)[0]
const apply = (text: string, flags = '') => phaseline(`project apply -f - ${flags}`.trim(), { stdin: text })

describe('project apply', () => {
  it('creates, leaves alone and updates, with the files beside the manifest', async () => {
    await mkdir(join(folder, 'scripts'))
    const script = await file('scripts/run.mjs', '#!/usr/bin/env node\r\n\uFEFFrun()\n')
    const path = await file('web.yaml', WEB)
    expect(await phaseline(`project apply -f ${path} --dry-run`)).toMatchObject({
      out: 'project web would be created\n',
    })
    expect(await phaseline('project get web')).toMatchObject({ code: 3, out: '' })
    expect(await phaseline(`project apply -f ${path}`)).toEqual({ code: 0, out: 'project web created\n', err: '' })
    expect(await read('web')).toMatchObject({
      workerTemplate: {
        ...{ runtime: 'process', image: null, command: ['node', 'ci/run.mjs'], args: ['--all'] },
        ...{ timeoutMs: 5_400_000, workspace: true },
        files: [
          { path: 'ci/run.mjs', content: '#!/usr/bin/env node\r\n\uFEFFrun()\n' },
          { path: 'note', content: 'hello' },
        ],
      },
      subscriptions: [
        { source: 'acme', types: ['push', 'tag'], qualifiers: [{ key: 'branch', value: 'main' }], task: null },
        { source: 'cron', types: ['*'], task: [{ name: 'sweep' }, { name: 'mop' }] },
      ],
      limits: { maxWorkers: 2, maxJobs: null, strategy: 'QUEUE' },
    })
    expect(await phaseline(`project apply -f ${path}`)).toMatchObject({ out: 'project web unchanged\n' })

    await writeFile(script, 'other()\n')
    const planned = documents((await phaseline(`plan -f ${path} --json`)).out)
    expect(planned).toEqual([
      { kind: 'Project', name: 'web', action: 'updated', changed: ['workerTemplate'], dryRun: true },
    ])
    expect(await phaseline(`apply -f ${path}`)).toMatchObject({ out: 'project web updated (workerTemplate)\n' })
    expect((await phaseline('project get web')).out).toMatch(
      /^worker +node ci\/run\.mjs --all\n(.*\n)*timeout +1h 30m$/m,
    )
  })

  it('leaves what the file does not name, and clears what is null', async () => {
    await apply(
      'name: part\nlimits: { maxWorkers: 1, maxJobs: 3, strategy: LATEST_ONLY }\nworkerTemplate: { command: [a] }',
    )
    expect(await apply('name: part\nlimits: { maxWorkers: null }')).toMatchObject({
      out: 'project part updated (limits)\n',
    })
    expect(await read('part')).toMatchObject({
      limits: { maxWorkers: null, maxJobs: 3, strategy: 'LATEST_ONLY' },
      workerTemplate: { command: ['a'] },
    })
    const { out } = await apply('name: part\nlimits: null\nworkerTemplate: null')
    expect(out).toBe('project part updated (workerTemplate, limits)\n')
    expect(await read('part')).toMatchObject({ workerTemplate: null, limits: { maxJobs: null, strategy: 'QUEUE' } })
    expect(await apply('name: part\nlimits: null\nworkerTemplate: null')).toMatchObject({
      out: 'project part unchanged\n',
    })
  })

  it('goes with installations in one file, projects first', async () => {
    const installation = 'name: app\nproject: both\nspec: {}\n'
    const both = `${installation}---\nkind: Project\nname: both\n`
    const refused = await apply(both.replace('name: app', 'kind: Installation\nname: app'))
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('use phaseline apply -f FILE') })
    const applied = await phaseline('apply -f -', { stdin: both })
    expect(applied).toMatchObject({ code: 0, out: 'project both created\nboth/app created (generation 1)\n' })
  })

  it('says why the server refuses, and where in the file that is', async () => {
    const written = `name: right
---
name: wrong
workerTemplate:
  command: [x]
  env:
    A: "1"
    PHASELINE_X: "1"
`
    const path = await file('refused.yaml', written)
    const { code, out, err } = await phaseline(`project apply -f ${path}`)
    expect([code, out]).toEqual([2, 'project right created\n'])
    expect(err).toContain(`INVALID_INPUT: project wrong: `)
    expect(err).toContain(`${path}:8:5: input.workerTemplate.env.1.name: must not start with PHASELINE_`)
  })

  it('reports where a file is wrong before anything is sent', async () => {
    const path = await file(
      'wrong.yaml',
      `name: p
workerTemplate:
  command: node
  timeout: soon
  env: { N: 1 }
  files: [{ path: a, content: x, from: y }]
subscription: []
`,
    )
    const nowhere = { PHASELINE_URL: 'http://127.0.0.1:1/graphql', PHASELINE_TOKEN: TOKEN }
    const { code, out, err } = await phaseline(`project apply -f ${path}`, { env: nowhere })
    expect([code, out]).toEqual([2, ''])
    for (const problem of [
      ':3:12: workerTemplate.command: ',
      ':4:12: workerTemplate.timeout: must be a duration such as 30s',
      ':5:13: workerTemplate.env.N: must be text: put it in quotes',
      ':6:11: workerTemplate.files.0: must have one of content, from and secret',
      ':7:1: Unrecognized key: "subscription"',
    ])
      expect(err).toContain(`${path}${problem}`)
    const missing = await file(
      'missing.yaml',
      'name: p\nworkerTemplate: { command: [a], files: [{ path: a, from: none }] }',
    )
    expect(await phaseline(`project apply -f ${missing}`, { env: nowhere })).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('workerTemplate.files.0.from: Cannot read ') },
    })
    await symlink('/etc/hostname', join(folder, 'link'))
    for (const from of ['../../../../etc/hostname', '/etc/hostname', 'link']) {
      const foreign = await file(
        'foreign.yaml',
        `name: p\nworkerTemplate: { command: [a], files: [{ path: a, from: ${from} }] }`,
      )
      expect(await phaseline(`project apply -f ${foreign}`, { env: nowhere })).toMatchObject({
        ...{ code: 2, err: expect.stringContaining(`${from} is outside of the folder of the manifest`) },
      })
    }
    const parsed = parseManifests('kind: Projekt\nname: p\nspec: {}')
    const [problem] = parsed.ok ? [] : parsed.problems
    expect(problem && describeProblem('f', problem)).toBe('f:1:7: kind: must be Installation or Project')
  })
})

describe('project create, list and delete', () => {
  it('makes a project, and removes it once it is empty', async () => {
    const created = await phaseline('project create small --max-workers 1 --max-jobs 4 --strategy latest-only')
    expect(created).toEqual({ code: 0, out: 'project small created\n', err: '' })
    const again = await phaseline('project create small')
    expect(again).toMatchObject({ code: 3, err: expect.stringContaining('ALREADY_EXISTS') })
    const { out } = await phaseline('project list')
    expect(out).toMatch(/^small +0 +0 +\S+ +1 worker, 4 jobs, latest only$/m)
    await phaseline('apply -f - --project small --no-reconcile', { stdin: 'name: app\nspec: {}' })
    const used = await phaseline('project delete small')
    expect(used).toMatchObject({ code: 3, err: expect.stringContaining('IN_USE') })
    await phaseline('delete app --project small --wait')
    expect(await phaseline('project delete small --json')).toMatchObject({ code: 0 })
    expect(await phaseline('project delete small')).toMatchObject({
      code: 3,
      err: expect.stringContaining('NOT_FOUND'),
    })
  })
})

it.each([
  ['90s', 90_000],
  ['10m', 600_000],
  ['1h30m', 5_400_000],
  ['1h 30m', 5_400_000],
  ['1.5s', 1_500],
  ['250ms', 250],
  ['2d', 172_800_000],
])('a duration of %s is %j milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})
it.each(['', '10', 'm', '-1s', '10m!', '0s', '0.1ms', '5 apples'])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeNull()
})
