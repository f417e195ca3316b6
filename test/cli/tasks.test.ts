import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { recordOperations } from '../testkit/recorded-operations.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'
import { type PlayedRunner, playRunner } from './played-runner.ts'

const TOKEN = 'the-command-lines-administrator'

let stack: AsyncDisposableStack
let server: ReachableServer
let runner: PlayedRunner
let folder: string
let phaseline: CommandLine

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-tasks-')), (path) => rm(path, { recursive: true }))
  // Without agents: only the played one takes jobs.
  const env = { PHASELINE_ROLES: 'gateway,engine' }
  server = stack.use(await startTestApp({ env, token: TOKEN }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN })
  runner = stack.use(await playRunner(server))
  for (const project of ['ops', 'left', 'right', 'several'])
    expect(await phaseline(`project create ${project}`)).toMatchObject({ code: 0 })
})
afterAll(() => stack.disposeAsync())

/** A task of jobs that are named after their gadgets. */
const runTask = (name: string, gadgets: readonly string[], more: object = {}, flags = '') =>
  phaseline(`task run -f - ${flags}`.trim(), {
    stdin: JSON.stringify({ name, project: 'ops', jobs: gadgets.map((gadget) => ({ name: gadget, gadget })), ...more }),
  })
async function start(name: string, ...gadgets: readonly string[]): Promise<void> {
  expect(await runTask(name, gadgets)).toMatchObject({ code: 0, err: '' })
}
const getTask = async (task: string): Promise<Readonly<Record<string, unknown>>> =>
  documents((await phaseline(`task get ${task} --json`)).out)[0] ?? {}
const listed = async (flags: string): Promise<unknown> => {
  const [answer] = documents((await phaseline(`task list ${flags} --json`)).out)
  return ((answer?.tasks ?? []) as { name: string }[]).map(({ name }) => name)
}
/** A job that runs, and then can neither be finished nor undone. */
async function breakJob(job: string): Promise<void> {
  const run = await runner.take(job, 'RUN')
  await runner.report(run, { phase: 'UNDOING', error: { code: 'GADGET_FAILED', message: 'the disk is full' } })
  await failUndo(job)
}
async function failUndo(job: string): Promise<void> {
  const undo = await runner.take(job, 'UNDO')
  await runner.report(undo, { phase: 'UNDO_FAILED', error: { code: 'GADGET_FAILED', message: 'the disk is gone' } })
}

/** A token that may read metrics, and nothing else. */
const monitorToken = async (): Promise<string> =>
  (await phaseline('token create prometheus --role monitor --quiet')).out.trim()

describe('status', () => {
  it('says what there is, and what waits for a person', async () => {
    await phaseline('project create status')
    await phaseline('task run -f -', {
      stdin: JSON.stringify({ name: 'move', project: 'status', jobs: [{ name: 'disk', gadget: 'disk' }] }),
    })
    await runner.declare('status/move/disk')
    await breakJob('status/move/disk')
    await using recorded = await recordOperations(server.url)
    const env = { PHASELINE_URL: recorded.url, PHASELINE_TOKEN: TOKEN }
    const { out, code } = await phaseline('status --project status', { env })
    // A family with a part in it has a request of its own.
    expect(recorded.names.toSorted()).toEqual(['AutomationHolds', 'Status'])
    expect([code, out.replaceAll(/\n(server|you).*/g, '')]).toEqual([
      0,
      expect.stringContaining('trees   1, 1 not finished\n'),
    ])
    expect(out).toMatch(
      /decide {2}1 wait for a person:\n {8}status\/move\/disk \(gadget job\) for \d.*: disk could not be undone and keeps its locks: .*\(Undo again, or Give up\)/,
    )
    expect(out).toMatch(/^agents {2}1 connected, /m)
    expect(documents((await phaseline('status --project status --json')).out)[0]).toMatchObject({
      viewer: { administrator: true },
      undecided: { totalCount: 1 },
    })
    expect(await phaseline('undo resolve status/move/disk --give-up')).toMatchObject({ code: 0 })
  })

  it('names what waits for something that no tree provides, and no object above it', async () => {
    await phaseline('project create stuck')
    const spec = { deployItems: [{ name: 'db', type: 'nobody-is-there' }] }
    await phaseline('apply -f - --project stuck', { stdin: JSON.stringify({ name: 'shop', spec }) })
    const { out } = await phaseline('status --project stuck')
    expect(out).toMatch(
      /^stuck {3}1 wait for what no tree provides:\n {8}stuck\/shop\/deploy-items\/db for \S+: Waits for an agent of the type nobody-is-there, and none is connected\.$/m,
    )
    const [shown] = documents((await phaseline('status --project stuck --json')).out)
    expect(shown).toMatchObject({ stuck: [{ path: 'shop/deploy-items/db', blocker: { reason: 'AGENT' } }] })
    expect((await phaseline('status --project status')).out).toMatch(/^stuck {3}0$/m)
  })

  it('says where automation is held, until somebody releases it', async () => {
    await phaseline('project create frozen')
    const held = async (options = '') => /^held .*$/m.exec((await phaseline(`status ${options}`.trim())).out)?.[0]
    expect(await held()).toBeUndefined()
    await phaseline('automation hold --project frozen --reason move')
    expect(await held()).toMatch(/^held {4}automation of frozen for [\d.]+m?s, by \S.*: move$/)
    expect(await held('--project frozen')).toContain('automation of frozen')
    expect((await phaseline('status')).out).toContain(
      '        phaseline automation release --project frozen lets schedules, hooks and notifications act again\n',
    )
    const run = { createEvent: { source: 'clock', type: 'hour' } }
    await phaseline('schedule apply -f -', {
      stdin: JSON.stringify({ name: 'hourly', project: 'frozen', when: { cron: '0 * * * *' }, run }),
    })
    const heldSchedule = async () => (await phaseline('schedule get frozen/hourly')).out.includes('automation is held')
    expect(await heldSchedule()).toBe(true)
    const env = { PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN, KEY: 'a-secret-of-enough-characters' }
    const hook = {
      kind: 'Hook',
      name: 'push',
      project: 'frozen',
      format: 'GITHUB',
      secrets: [{ name: 'KEY', env: 'KEY' }],
    }
    expect(await phaseline('apply -f -', { stdin: JSON.stringify(hook), env })).toMatchObject({ code: 0 })
    const rule = {
      ...{
        kind: 'NotificationRule',
        name: 'tell',
        project: 'frozen',
        changes: { classes: ['FAILED'] },
        text: 'failed',
      },
      receiver: { cloudEvents: { url: 'https://example.org/events' } },
    }
    expect(await phaseline('apply -f -', { stdin: JSON.stringify(rule) })).toMatchObject({ code: 0 })
    const automatic = ['schedule list', 'hook list', 'notification list', 'hook get push', 'notification get tell']
    const saysHeld = async () =>
      Promise.all(
        automatic.map(async (command) =>
          (await phaseline(`${command} --project frozen`)).err.includes('held    automation'),
        ),
      )
    expect(await saysHeld()).toEqual(automatic.map(() => true))
    expect((await phaseline('hook list --project frozen --json')).err).toBe('')
    expect(await held('--project default')).toBeUndefined()
    await phaseline('automation release --project frozen')
    expect(await heldSchedule()).toBe(false)
    expect(await saysHeld()).toEqual(automatic.map(() => false))
    await phaseline('automation hold --reason all')
    expect(await held('--project default')).toContain('automation of all projects')
    await phaseline('automation release')
    expect(await held()).toBeUndefined()
  })

  it('says with --load which work waits, by type, for those who may read metrics', async () => {
    const spec = { deployItems: [{ name: 'db', type: 'nobody-takes' }] }
    await phaseline('apply -f -', { stdin: JSON.stringify({ name: 'waits', spec }) })
    const { out } = await until(
      async () => {
        const shown = await phaseline('status --load')
        return shown.out.includes('nobody-takes') ? shown : null
      },
      { what: 'the figures are new' },
    )
    expect(out).toMatch(/^due {5}\d+ trees/m)
    expect(out).toMatch(/^slots {3}workers: 0 of \d+ taken, 0 wait$/m)
    expect(out).toMatch(/^WORK +WAITING +OLDEST +DEFERRED +CLAIMED\n(.*\n)*nobody-takes +1 +\S+ +0 +0$/m)
    const [{ load } = {}] = documents((await phaseline('status --load --json')).out)
    expect(load).toMatchObject({
      complete: true,
      work: expect.arrayContaining([expect.objectContaining({ offered: 1 })]),
    })

    const reader = (await phaseline('token create load-reader --role reader --quiet')).out.trim()
    const env = { PHASELINE_URL: server.url, PHASELINE_TOKEN: reader }
    expect(await phaseline('status --load', { env })).toMatchObject({
      code: 3,
      out: expect.stringMatching(/^trees {3}\d+, /m),
      err: expect.stringContaining('MONITOR'),
    })
    const [refused] = documents((await phaseline('status --load --json', { env })).out)
    expect(refused).toMatchObject({
      trees: { totalCount: expect.any(Number) },
      load: null,
      error: { code: 'FORBIDDEN' },
    })
    // A server of an earlier version does not know the field.
    await using older = await recordOperations(server.url, (body) => body.replace(' load {', ' formerLoad {'))
    const old = { PHASELINE_URL: older.url, PHASELINE_TOKEN: TOKEN }
    expect(await phaseline('status --load', { env: old })).toMatchObject({
      code: 3,
      out: expect.stringMatching(/^trees {3}\d+, /m),
      err: expect.stringMatching(/^GRAPHQL_VALIDATION_FAILED: This server is of an earlier version, /),
    })
    const monitor = { PHASELINE_URL: server.url, PHASELINE_TOKEN: await monitorToken() }
    expect(await phaseline('status --load', { env: monitor })).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^you {5}prometheus: MONITOR of all projects\ntrees {3}not shown: .*\n(.*\n)*due {5}\d+ trees/m,
      ),
    })
    expect(await phaseline('status', { env: monitor })).toMatchObject({ code: 3 })
    expect(await phaseline('status', { env })).toMatchObject({ code: 0 })
    const agent = (await phaseline('token create load-agent --role agent --type none --quiet')).out.trim()
    expect(await phaseline('status', { env: { ...env, PHASELINE_TOKEN: agent } })).toMatchObject({ code: 0, err: '' })
    expect(await phaseline('delete waits --without-uninstall --yes')).toMatchObject({ code: 0 })
  })
})

describe('several names', () => {
  it('are asked for one after the other, whichever is refused, and then followed', async () => {
    await start('first', 'one')
    await start('second', 'one')
    const cancelled = await phaseline('cancel ops/first ops/none ops/second --wait')
    expect(cancelled).toMatchObject({ code: 3, err: expect.stringContaining('There is no object ops/none') })
    const asked = cancelled.out.indexOf('second asked to cancel')
    expect([asked, cancelled.out.indexOf('first asked to cancel')]).not.toContain(-1)
    expect(await phaseline('delete ops/first ops/second --wait --yes')).toMatchObject({ code: 0, err: '' })
    expect(await listed('--project ops --name-contains first')).toEqual([])
    expect(await listed('--project ops --name-contains second')).toEqual([])
  })
})

describe('task retry', () => {
  it('runs what was not done of a task that has ended, as a new task', async () => {
    await start('again', 'one', 'two')
    await runner.declare('ops/again/one')
    await runner.report(await runner.take('ops/again/one', 'RUN'), { phase: 'DONE' })
    expect(await phaseline('task retry ops/again')).toMatchObject({ code: 3, err: expect.stringContaining('BUSY') })
    expect(await phaseline('task cancel ops/again --wait')).toMatchObject({ code: 0 })

    const retried = await phaseline('task retry ops/again')
    expect(retried).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^ops\/again-2 created, now /) })
    expect((await phaseline('task get ops/again-2')).out).toMatch(/^one +one +✓ DONE$/m)
    expect((await phaseline('task retry ops/again --job one --name only-one')).out).toContain('ops/only-one created')
    expect((await phaseline('task get ops/only-one --json')).out).not.toContain('"name":"two"')
    // Any root is retried by the same command.
    expect((await phaseline('retry ops/again --kind task')).out).toBe('again-3 runs again what failed of again\n')
    await runner.declare('ops/only-one/one')
    await runner.report(await runner.take('ops/only-one/one', 'RUN'), { phase: 'DONE' })
    const done = await until(
      async () => {
        const { out } = await phaseline('get ops/only-one --kind task')
        return out.includes('SUCCEEDED') ? out : null
      },
      { what: 'it has ended' },
    )
    expect(done).toMatch(/^you may +task retry --all, delete$/m)
    expect((await phaseline('retry ops/only-one --kind task')).err).toContain(
      'only what is FAILED or ABORTED can be retried. `phaseline task retry ops/only-one --all` runs all of its jobs again.',
    )
    const unknown = await phaseline('task retry ops/again --job three --all')
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('there is no job three') })
  })
})

describe('task run', () => {
  it('hands the task of a file over as it stands, once for each key', async () => {
    const path = join(folder, 'task.yaml')
    await writeFile(
      path,
      `kind: Task
name: copy
project: ops
labels: { team: db }
jobs:
  - name: dump
    gadget: pg-dump
    args: [shop, "--to=  x", "\${1 + 1}"]
    env: { GADGET_LEVEL: "9" }
  - name: restore
    gadget: pg-restore
    when: \${jobs.dump.exports.size > 0}
    dependsOn: [dump]
`,
    )
    const created = await phaseline(`task run -f ${path} --key once`)
    expect(created).toMatchObject({ code: 0, err: '' })
    expect(created.out).toMatch(/^ops\/copy created, now (PENDING|RUNNING) {2}\S{36}\n$/)
    const again = await phaseline(`task run -f ${path} --key once`)
    expect(again.out.slice(-37)).toBe(created.out.slice(-37))
    const other = await phaseline(`task run -f ${path}`)
    expect(other).toMatchObject({ code: 3, err: expect.stringContaining('ALREADY_EXISTS') })
    expect(other.err).toMatch(/To run that one again: phaseline task retry \S+\/\S+ --all\n$/)

    const { config } = await runner.declare('ops/copy/dump')
    expect(config).toMatchObject({ gadget: 'pg-dump', args: ['shop', '--to=  x', '2'], env: { GADGET_LEVEL: '9' } })
    const dump = await runner.take('ops/copy/dump', 'RUN')
    await runner.report(dump, { phase: 'DONE', exports: { size: 0 } })
    await until(async () => (await getTask('ops/copy')).finished, { what: 'the task ends' })
    const { out } = await phaseline('task get ops/copy')
    expect(out).toMatch(/^phase +✓ SUCCEEDED$/m)
    expect(out).toMatch(/^labels +team=db$/m)
    expect(out).toMatch(/^restore +pg-restore +» SKIPPED$/m)
  })

  it('starts the tasks of several files, in their order, or none when one of them is wrong', async () => {
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(join(folder, name), text)
      return join(folder, name)
    }
    const task = (name: string) => file(`${name}.json`, JSON.stringify({ name, jobs: [{ name: 'only', gadget: 'x' }] }))
    const [one, two, three] = [await task('one'), await task('two'), await task('three')]
    const created = await phaseline(`task run -f ${two} -f ${one} --project several`)
    expect(created).toMatchObject({ code: 0, err: '' })
    expect(created.out).toMatch(/^several\/two created, .*\nseveral\/one created, .*\n$/)
    // The first is there already; the other one is started all the same.
    const half = await phaseline(`task run -f ${one} -f ${three} --project several`)
    expect(half).toMatchObject({ code: 3, err: expect.stringContaining('several/one: ') })
    expect(half.out).toMatch(/^several\/three created, /)

    const wrong = await file('wrong.yaml', 'name: a\n')
    const refused = await phaseline(`task run -f ${one} -f ${wrong} --url http://127.0.0.1:1`)
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining(`${wrong}:1:1: `) })
    const keyed = await phaseline(`task run -f ${one} -f ${two} --key k --url http://127.0.0.1:1`)
    expect(keyed).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--key') })
  })

  it('says everything that is wrong with a file, and where, before it asks the server', async () => {
    const run = (stdin: string) => phaseline('task run -f - --url http://127.0.0.1:1', { stdin })
    const wrong = await run('kind: Task\nname: a/b\njobs:\n  - gadget: x\n    args: [1]\n    timeout: soon\n')
    expect(wrong).toMatchObject({ code: 2, out: '' })
    expect(wrong.err.split('\n')).toEqual([
      'INVALID_INPUT: <stdin> is not valid.',
      '  <stdin>:2:7: name: must not hold a "/"',
      expect.stringMatching(/^ {2}<stdin>:4:5: jobs\.0\.name: /),
      '  <stdin>:5:12: jobs.0.args.0: must be text: put it in quotes',
      expect.stringMatching(/^ {2}<stdin>:6:5: jobs\.0: .*timeout/),
      '',
    ])
    for (const text of ['', 'name: a\n---\nname: b', '{', 'name: *a', 'kind: Project\nname: a', 'name: a\njobs: []'])
      expect(await run(text), text).toMatchObject({ code: 2, out: '', err: expect.stringContaining('<stdin>') })
    expect(await runTask('cycle', [], { jobs: [{ name: 'a', gadget: 'x', dependsOn: ['a'] }] })).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('input.jobs.0.dependsOn') },
    })
  })

  it('follows a task to its end, and ends as it did', async () => {
    const path = join(folder, 'followed.json')
    const jobs = [{ name: 'only', gadget: 'work' }]
    await writeFile(path, JSON.stringify({ name: 'followed', jobs }))
    await using good = phaseline.spawn(`task run -f ${path} --project left --follow`)
    await runner.declare('left/followed/only', 'disk:a=X')
    const run = await runner.take('left/followed/only', 'RUN')
    await good.shows('RUNNING')
    await runner.report(run, { phase: 'DONE', exports: {} })
    expect(await good.exit).toBe(0)
    expect(good.out()).toMatch(/succeeded/)

    await using bad = phaseline.spawn(`task run -f ${path} --project right --follow --json`)
    await runner.declare('right/followed/only')
    const second = await runner.take('right/followed/only', 'RUN')
    await runner.report(second, { phase: 'UNDOING', error: { code: 'GADGET_FAILED', message: 'no' } })
    await runner.report(await runner.take('right/followed/only', 'UNDO'), { phase: 'FAILED' })
    expect(await bad.exit).toBe(1)
    const lines = documents(bad.out())
    expect(lines[0]).toMatchObject({ name: 'followed', project: { name: 'right' } })
    expect(lines.at(-1)).toMatchObject({ type: 'result', outcome: 'failed' })
  })
})

describe('task get', () => {
  it('shows what each job does and locks, and all there is of one', async () => {
    await start('shown', 'first', 'second')
    await runner.declare('ops/shown/first', 'host:shown=X', 'host:shown-too=S')
    const run = await runner.take('ops/shown/first', 'RUN')
    await runner.report(run, { progress: { step: 'Copying', value: 1, total: 4, unit: 'GB' } })
    const { out } = await phaseline('task get shown --project ops')
    expect(out).toMatch(/^phase +▶ RUNNING, not finished$/m)
    expect(out).toMatch(
      /^first +first +▶ RUNNING +[\d.]+m?s +X host:shown, S host:shown-too +\[███─+\] +25% 1\/4 GB Copying$/m,
    )
    expect(out).toMatch(/^second +second +○ PENDING +waits for dependency: .*first/m)

    await runner.report(run, { phase: 'DONE', exports: { size: 7 } })
    const job = await phaseline('task get ops/shown --job first')
    expect(job.out).toMatch(/^runs +first$/m)
    expect(job.out).toMatch(/^uuid +\S{36}$/m)
    expect(job.out).toMatch(/^export +size = 7$/m)
    expect(job.out).toMatch(/\njournal\n\S+Z {2}START\n\S+Z {2}DONE\n$/)
    const [record] = documents((await phaseline('task get ops/shown --job first --json')).out)
    expect(record).toMatchObject({
      phase: 'DONE',
      exports: { size: 7 },
      journal: [{ entry: 'START' }, { entry: 'DONE' }],
    })

    const { jobs } = (await getTask('ops/shown')) as { jobs: { id: string }[] }
    expect(await phaseline(`task get ${jobs[1]?.id}`)).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('the gadget job second, not a task. It belongs to shown.') },
    })
    expect(await phaseline('task get ops/shown --job third')).toMatchObject({ code: 3 })
    expect(await phaseline('task get shown')).toMatchObject({ code: 3, err: expect.stringContaining('NOT_FOUND') })
  })
})

describe('task list, cancel and delete', () => {
  it('finds tasks, cancels once, and deletes what has ended only', async () => {
    expect(await runTask('ends-1', ['a'], { labels: { end: 'yes' } })).toMatchObject({ code: 0 })
    expect(await runTask('ends-2', ['a', 'b'], { labels: { end: 'yes' } })).toMatchObject({ code: 0 })
    expect(await listed('--project ops --label end=yes')).toEqual(['ends-2', 'ends-1'])
    expect(await listed('-A -l end=yes')).toEqual(['ends-2', 'ends-1'])
    expect(await listed('-l end=yes,end=no')).toEqual([])
    expect(await phaseline('task list -A --project ops')).toMatchObject({ code: 2 })
    expect(await phaseline('task list --label end=yes --limit 1')).toMatchObject({
      out: expect.stringMatching(/^PROJECT +NAME +PHASE +JOBS .*\nops +ends-2 +\S (PENDING|RUNNING) +2 .*\n$/),
      err: '… and 1 more (--limit)\n',
    })
    expect((await phaseline('task list --label end=yes -o name')).out).toBe('ops/ends-2\nops/ends-1\n')

    expect(await phaseline('task delete ops/ends-1')).toMatchObject({
      code: 3,
      err: expect.stringContaining('TRANSITION'),
    })
    expect(await phaseline('task cancel ops/ends-1 --reason enough --wait')).toMatchObject({ code: 0 })
    expect(await getTask('ops/ends-1')).toMatchObject({ phase: 'ABORTED', jobs: [{ phase: 'ABORTED' }] })
    const again = await phaseline('task cancel ops/ends-1')
    expect(again).toMatchObject({ code: 3, err: expect.stringContaining('TRANSITION') })
    expect(await listed('--label end=yes --phase aborted')).toEqual(['ends-1'])
    expect(await phaseline('task delete ops/ends-1 --wait')).toMatchObject({ code: 0 })
    expect(await listed('--label end=yes')).toEqual(['ends-2'])
  })
})

describe('export', () => {
  it('reads several tasks in one request, and the further pages of their jobs', async () => {
    const many = Array.from({ length: 101 }, (_, i) => `job-${i}`)
    expect(await runTask('long', many)).toMatchObject({ code: 0 })
    expect(await runTask('short', ['only'])).toMatchObject({ code: 0 })
    await using recorded = await recordOperations(server.url)
    const env = { PHASELINE_URL: recorded.url, PHASELINE_TOKEN: TOKEN }
    const { out, code } = await phaseline('export ops/long ops/short --json', { env })
    const asked = recorded.names.filter((name) => name.startsWith('Export'))
    expect([code, asked]).toEqual([0, ['ExportTasks', 'ExportJobs']])
    const tasks = documents(out) as unknown as { readonly name: string; readonly jobs: readonly { name: string }[] }[]
    expect(tasks.map(({ name }) => name)).toEqual(['long', 'short'])
    expect(tasks[0]?.jobs.map(({ name }) => name)).toEqual(many)
    for (const name of ['long', 'short'])
      expect(await phaseline(`task cancel ops/${name} --wait`)).toMatchObject({ code: 0 })
  })
})

describe('locks', () => {
  it('shows holders and waiters in their order, with the job of each', async () => {
    for (const name of ['holds', 'waits-1', 'waits-2']) {
      await start(name, 'job')
      await runner.declare(`ops/${name}/job`, ...(name === 'holds' ? ['host:l=S', 'host:free=X'] : ['host:l=X']))
    }
    await runner.take('ops/holds/job', 'RUN')
    await until(async () => (await phaseline('locks --resource host:l')).out.split('\n').length === 5, {
      what: 'all wait',
    })
    const { code, out } = await phaseline('locks --resource host:l')
    expect(code).toBe(0)
    expect(out).toMatch(/^RESOURCE +MODE +STATE +POSITION +AGE +PHASE +JOB$/m)
    const [, holder, first, second] = out.split('\n')
    expect(holder).toMatch(/^host:l +S +holds +[\d.]+m?s +RUNNING +ops\/holds\/job$/)
    expect(first).toMatch(/^host:l +X +waits +1 +[\d.]+m?s +WAITING +ops\/waits-1\/job$/)
    expect(second).toMatch(/^host:l +X +waits +2 +[\d.]+m?s +WAITING +ops\/waits-2\/job$/)
    expect((await phaseline('locks')).out).toMatch(/^host:free +X +holds .* ops\/holds\/job$/m)
    const [json] = documents((await phaseline('locks --resource host:l --json')).out)
    expect(json).toMatchObject({ totalCount: 3, locks: [{ held: true }, { position: 1 }, { position: 2 }] })
    expect((await phaseline('task get ops/waits-2')).out).toMatch(
      /^job +job +○ WAITING +X host:l \(waits, #2\) +waits for lock: /m,
    )
    expect((await phaseline('locks --resource host:none')).err).toBe('Nobody holds host:none, or waits for it.\n')
  })
})

describe('following what only a person can end', () => {
  it('ends with code 5 and says how to decide, once nothing else goes on', async () => {
    const jobs = [
      { name: 'job', gadget: 'job' },
      { name: 'next', gadget: 'next' },
    ]
    const followed = runTask('held', ['job'], { jobs }, '--follow')
    await runner.declare('ops/held/job', 'host:held=X')
    await breakJob('ops/held/job')
    const { code, out } = await followed
    expect(code).toBe(5)
    expect(out).toMatch(/^A person must decide about held\/job: job could not be undone/m)
    expect(out).toMatch(/^ {2}phaseline undo resolve ops\/held\/job --retry /m)
    expect(await phaseline('watch ops/held')).toMatchObject({ code: 5, out: expect.stringContaining('Give up') })
    expect((await phaseline('task get ops/held')).out).toMatch(/^to decide +.* \(Undo again, or Give up\)$/m)
    const cannot = { code: 3, err: expect.stringContaining('decide about its job job, which could not be undone') }
    expect(await phaseline('delete ops/held --yes')).toMatchObject(cannot)
    // Nothing has undone it.
    const failed = (await phaseline('get --failed --project ops')).out
    expect(failed).toMatch(/^✗ ops\/held\/job /m)
    expect(failed).not.toContain('↺')

    // Another task that wants its lock is as stuck.
    const waiting = runTask('wants', ['job'], {}, '--follow')
    await runner.declare('ops/wants/job', 'host:held=X')
    const stuck = await waiting
    expect(stuck).toMatchObject({ code: 5, out: expect.stringMatching(/^A person must decide about wants\/job: /m) })
    const [decide = ''] = /undo resolve \S+ --give-up/.exec(stuck.out) ?? []
    expect(await phaseline(decide)).toMatchObject({ code: 0, out: expect.stringContaining('ops/held/job is given up') })
    await runner.take('ops/wants/job', 'RUN')
  })
})

describe('undo resolve', () => {
  it('has a job undone again, or gives it up and its locks with it', async () => {
    await start('broken', 'job')
    await runner.declare('ops/broken/job', 'host:broken=X')
    await breakJob('ops/broken/job')
    const { out } = await phaseline('task get ops/broken')
    expect(out).toMatch(/^phase +▶ RUNNING, not finished$/m)
    expect(out).toMatch(/^job +job +✗ UNDO_FAILED +\S+ +X host:broken +GADGET_FAILED: the disk is gone$/m)
    expect(out).toMatch(/^ {2}phaseline undo resolve ops\/broken\/job --retry /m)

    expect(await phaseline('undo resolve ops/broken/job')).toMatchObject({ code: 2 })
    expect(await phaseline('undo resolve ops/broken/job --retry --give-up')).toMatchObject({ code: 2 })
    const { id } = await getTask('ops/broken')
    expect(await phaseline(`undo resolve ${id} --retry`)).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('the task broken, not a gadget job') },
    })
    expect(await phaseline('undo resolve ops/broken/job --retry')).toMatchObject({
      ...{ code: 0, out: 'ops/broken/job is undone again, now UNDOING\n' },
    })
    await failUndo('ops/broken/job')
    expect((await phaseline('locks --resource host:broken')).out).toMatch(/holds +\S+ +UNDO_FAILED +ops\/broken\/job$/m)
    expect(await phaseline('undo resolve broken/job --project ops --give-up')).toMatchObject({
      ...{ code: 0, out: 'ops/broken/job is given up, its locks are released, now FAILED\n' },
    })
    expect((await phaseline('locks --resource host:broken')).err).toMatch(/^Nobody/)
    await until(async () => (await getTask('ops/broken')).finished, { what: 'the task ends' })
    expect(await getTask('ops/broken')).toMatchObject({ phase: 'FAILED' })
    const late = await phaseline('undo resolve ops/broken/job --give-up')
    expect(late).toMatchObject({ code: 3, err: expect.stringContaining('TRANSITION') })
  })
})

it('sets and removes labels of any object', async () => {
  await start('swap', 'copy')
  const labels = async (changes: string): Promise<unknown> => {
    const { code, out } = await phaseline(`label swap ${changes} --project ops --json`)
    return { code, ...documents(out)[0] }
  }
  const team = (value: string) => ({ key: 'team', value })
  expect(await labels('team=web tier=')).toMatchObject({
    code: 0,
    kind: 'TASK',
    labels: [team('web'), { key: 'tier', value: '' }],
  })
  expect(await labels('tier- team=ops')).toMatchObject({ code: 0, labels: [team('ops')] })
  expect(await phaseline('label swap team --project ops')).toMatchObject({ code: 2 })
})
