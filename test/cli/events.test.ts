import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { startSharedServer, type TestServer } from '../testkit/server.ts'
import { type CommandLine, commandLine, documents } from './command.ts'
import { PLAYED, type PlayedRuntime, playRuntime } from './played-runtime.ts'

const TOKEN = 'the-command-lines-administrator'

let stack: AsyncDisposableStack
let server: TestServer
let runtime: PlayedRuntime
let folder: string
let phaseline: CommandLine

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-events-')), (path) => rm(path, { recursive: true }))
  server = stack.use(await startSharedServer({ token: TOKEN }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN })
  runtime = stack.use(await playRuntime(server))
})
afterAll(() => stack.disposeAsync())

async function addProject(name: string, more: object = {}): Promise<void> {
  const manifest = { name, workerTemplate: { runtime: PLAYED, command: ['work', '--hard'] }, ...more }
  expect(await phaseline('project apply -f -', { stdin: JSON.stringify(manifest) })).toMatchObject({ code: 0 })
}
const create = (project: string, flags = '') =>
  phaseline(`event create --source test --type push --project ${project} ${flags}`.trim())
const phaseOf = async (event: string): Promise<unknown> =>
  documents((await phaseline(`event get ${event} --json`)).out)[0]?.phase
/** Names in a list. */
const listed = async (flags: string): Promise<unknown> => {
  const [answer] = documents((await phaseline(`event list ${flags} --json`)).out)
  return ((answer?.events ?? []) as { name: string }[]).map(({ name }) => name)
}

describe('event create', () => {
  it('hands over what was given, to the byte, to those that have subscribed', async () => {
    const subscriptions = [{ source: 'acme', types: ['push'], qualifiers: { branch: 'main' } }]
    await addProject('heard', { subscriptions })
    await addProject('heard-too', { subscriptions })
    const path = join(folder, 'payload')
    await writeFile(path, '\uFEFF{"a": 1}\r\n\n')
    const flags = `--qualifier branch=main --label a=1 --label b=x=y --payload-file ${path} --key once`
    const created = await phaseline(`event create --source acme --type push ${flags}`)
    expect(created).toMatchObject({ code: 0, err: '' })
    expect(created.out).toMatch(/^heard\/event-1 created, now \w+ .*\nheard-too\/event-1 created, now .*\n$/)
    const again = documents((await phaseline(`event create --source acme --type push ${flags} --json`)).out)[0]
    expect(again).toMatchObject({ events: [{ name: 'event-1' }, { name: 'event-1' }] })

    const { config } = await runtime.start('heard/event-1')
    expect(config.event).toMatchObject({
      ...{ source: 'acme', type: 'push', payload: '\uFEFF{"a": 1}\r\n\n' },
      ...{ qualifiers: { branch: 'main' }, labels: { a: '1', b: 'x=y' } },
    })
    expect(await phaseline('event create --source acme --type push')).toMatchObject({
      ...{
        code: 0,
        out: expect.stringMatching(
          /^No project has a subscription that matches its source, type, qualifiers and labels: .*--project NAME/,
        ),
      },
    })
    await writeFile(path, Buffer.from([0xff, 0xfe]))
    expect(await create('heard', `--payload-file ${path}`)).toMatchObject({ code: 2, out: '' })
    expect(await create('nobodys')).toMatchObject({ code: 2, out: '' })
    expect(await phaseline('event create --type push')).toMatchObject({ code: 2 })
  })

  it('follows what the workers write, and ends as they did', async () => {
    const subscriptions = [{ source: 'two', types: ['*'] }]
    await addProject('left', { subscriptions })
    await addProject('right', { subscriptions })
    await using both = phaseline.spawn('event create --source two --type push --follow')
    await both.shows('right/event-1 created')
    const left = await runtime.start('left/event-1')
    const right = await runtime.start('right/event-1')
    await runtime.write(left, 'from the left', '  \u001b[2Jindented')
    await both.shows('left/event-1 | from the left\nleft/event-1 |   indented\n')
    await runtime.end(left, 0)
    await both.shows('✓ left/event-1 SUCCEEDED after ')
    await runtime.write(right, 'from the right')
    await runtime.end(right, 3)
    expect(await both.exit).toBe(1)
    expect(both.out()).toMatch(/right\/event-1 \| from the right\n✗ right\/event-1 FAILED after .*: EXIT_CODE: /)

    await using json = phaseline.spawn('event retry right/event-1 --follow --json')
    await json.shows('"event-2"')
    const second = await runtime.start('right/event-2')
    await runtime.write(second, 'again')
    await runtime.end(second, 0)
    expect(await json.exit).toBe(0)
    expect(documents(json.out())).toMatchObject([
      { events: [{ name: 'event-2' }] },
      { type: 'log', stream: 'STDOUT', text: 'again' },
      { type: 'result', name: 'event-2', phase: 'SUCCEEDED', exitCode: 0, error: null },
    ])
  })

  it('says while it follows what the event waits for, and ends when the event is gone', async () => {
    await addProject('full', { limits: { maxWorkers: 0 } })
    await using following = phaseline.spawn('event create --source test --type push --project full --follow')
    await expect.poll(() => following.err()).toMatch(/full\/event-1 waits for capacity: /)
    expect(await phaseline('event delete full/event-1')).toMatchObject({ code: 0 })
    expect(await following.exit).toBe(1)
    expect(following.out()).toMatch(/full\/event-1 GONE\n$/)
  })
})

describe('event get', () => {
  it('says of a job that is attempted again which attempt it is, and how the last one has failed', async () => {
    await addProject('again')
    await create('again')
    const worker = await runtime.start('again/event-1')
    await runtime.addJob(worker, 'flaky', { retry: { attempts: 3, backoff: { initialMs: 600_000 } } })
    await runtime.end(await runtime.start('again/event-1', 'flaky'), 4)
    const { out } = await phaseline('event get again/event-1')
    expect(out).toMatch(/^flaky +\S+ PENDING .* attempt 2 of 3, after EXIT_CODE: It ended/m)
    await runtime.addJob(worker, 'once', { retry: { attempts: 3, on: ['OTHER'] } })
    await runtime.end(await runtime.start('again/event-1', 'once'), 4)
    expect((await phaseline('event get again/event-1')).out).toMatch(
      /^once +\S+ FAILED .* attempt 1 of 3, final \(its policy does not retry EXIT_CODE/m,
    )
  })

  it('shows the event, its worker and its jobs, however it is named', async () => {
    await addProject('shown')
    await create('shown', '--label team=web')
    expect((await phaseline('event get shown/event-1')).out).toMatch(/^phase +\S (PENDING|STARTING), not finished$/m)
    const worker = await runtime.start('shown/event-1')
    await runtime.addJob(worker, 'build')
    await runtime.addJob(worker, 'wait')
    await runtime.end(await runtime.start('shown/event-1', 'build'), 4)
    await runtime.start('shown/event-1', 'wait')
    const { code, out } = await phaseline('event get event-1 --project shown')
    expect(code).toBe(0)
    expect(out).toMatch(/^labels +team=web$/m)
    expect(out).toMatch(/^came +for its project by name$/m)
    expect(out).toMatch(/^runs +work --hard$/m)
    expect(out).toMatch(/^resources +process, secrets$/m)
    expect(out).toMatch(
      /^build +✗ FAILED +[\d.]+m?s +4 +process, secrets, to be removed in [\d.ms ]+ +EXIT_CODE: It ended/m,
    )
    expect(out).toMatch(/^wait +▶ RUNNING +[\d.]+m?s +process, secrets$/m)

    const [event] = documents((await phaseline('event get shown/event-1 --json')).out)
    expect(event).toMatchObject({
      worker: { phase: 'RUNNING' },
      jobs: [{ name: 'build', exitCode: 4 }, { name: 'wait' }],
    })
    const { id, worker: itsWorker } = event as { id: string; worker: { id: string } }
    expect(await phaseline(`event get ${id}`)).toMatchObject({ code: 0 })
    const wrong = await phaseline(`event cancel ${itsWorker.id}`)
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringContaining('the worker worker, not an event. It belongs to'),
    })
    expect(await phaseOf(id)).toBe('RUNNING')
    expect(await phaseline('event get event-1')).toMatchObject({ code: 3, err: expect.stringContaining('NOT_FOUND') })
    await runtime.end(worker, 0)
    const ended = (await phaseline('event get shown/event-1')).out
    expect(ended).toMatch(/^ended with +exit code 0$/m)
    expect(ended).toMatch(
      /^deadline +removal at \S+Z \(in [^)]+\): It has ended\. Its process, .* are removed from then on; /m,
    )
    const tree = await phaseline('tree shown/event-1 --kind event')
    expect(tree.out).toMatch(
      /^✓ event-1 +event +SUCCEEDED\n└─ ✓ worker +worker +SUCCEEDED\n {3}├─ ✗ build +job +FAILED/,
    )
    expect(tree.out).toMatch(/└─ ■ wait +job +ABORTED +\S/)
  })
})

/** Queries that the server has executed; runtimes send mutations only. */
async function queries(): Promise<number> {
  const answer = await fetch(`${server.origin}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
  const counts = (await answer.text()).matchAll(/^phaseline_operation_seconds_count\{type="query".*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

describe('event list', () => {
  it('has the server select, newest first', async () => {
    await addProject('many', { limits: { maxWorkers: 0 } })
    for (const [source, type, more] of [
      ['a', 'push', '--qualifier q=1 --label l=1'],
      ['a', 'tag', '--qualifier q=1 --qualifier r=2'],
      ['b', 'push', ''],
    ]) {
      await phaseline(`event create --project many --source ${source} --type ${type} ${more}`.trim())
    }
    expect(await listed('--project many')).toEqual(['event-3', 'event-2', 'event-1'])
    expect(await listed('--project many --source a')).toEqual(['event-2', 'event-1'])
    expect(await listed('--project many --source a --type push')).toEqual(['event-1'])
    expect(await listed('--project many --qualifier q=1')).toEqual(['event-1'])
    expect(await listed('--project many --label l=1')).toEqual(['event-1'])
    expect(await listed('--project many --phase succeeded,failed')).toEqual([])
    const { out, err } = await phaseline('event list --project many --type push --limit 1')
    expect(out).toMatch(/^PROJECT +NAME .*\nmany +event-3 +b +push +○ PENDING .*\n$/)
    expect(err).toBe('… and 1 more (--limit)\n')
    const nothing = await phaseline('event list --project many --source c')
    expect(nothing).toEqual({ code: 0, out: '', err: 'Nothing matches.\n' })
    expect(documents((await phaseline('event list --project many --source a --limit 1 --json')).out)).toMatchObject([
      { totalCount: 2, events: [{ name: 'event-2', source: 'a', qualifiers: [{}, {}] }] },
    ])
    expect((await phaseline('event list --project many --source a -o name')).out).toBe('many/event-2\nmany/event-1\n')
  })

  it('is one request, however many other events there are', async () => {
    await addProject('crowded', { limits: { maxWorkers: 0 } })
    const add = (source: string) =>
      ask(server.client, MUTATIONS.createEvent, { project: 'crowded', source, type: 'push' })
    await add('sought')
    for (let n = 0; n < 25; n += 1) await Promise.all(Array.from({ length: 10 }, () => add('other')))
    const before = await queries()
    expect(await listed('--project crowded --source sought')).toEqual(['event-1'])
    expect((await queries()) - before).toBe(1)
  })
})

describe('event logs', () => {
  it('follows across a server that dies, each line once, and ends with the worker', async () => {
    await addProject('told')
    await create('told')
    const worker = await runtime.start('told/event-1')
    await runtime.write(worker, 'one', 'two')
    await using following = phaseline.spawn('event logs told/event-1 -f')
    await following.shows('two\n')
    await server.kill()
    await server.start()
    await runtime.write(worker, 'three')
    await following.shows('three\n')
    await server.stop()
    await server.start()
    await runtime.write(worker, 'four')
    await runtime.end(worker, 1)
    expect(await following.exit).toBe(0)
    expect(following.out()).toBe('one\ntwo\nthree\nfour\n')
    expect(await phaseline('event logs told/event-1 --limit 2')).toEqual({
      code: 0,
      out: 'three\nfour\n',
      err: '2 of 4 lines, the newest: --limit 4 prints all of them.\n',
    })
  })

  it('prints those of a job, and says which there are', async () => {
    await addProject('jobs')
    await create('jobs')
    const worker = await runtime.start('jobs/event-1')
    await runtime.addJob(worker, 'build')
    const job = await runtime.start('jobs/event-1', 'build')
    await runtime.write(job, 'building')
    await runtime.end(job, 0)
    expect(await phaseline('event logs jobs/event-1 --job build -f')).toMatchObject({ code: 0, out: 'building\n' })
    const { code, err } = await phaseline('event logs jobs/event-1 --job test')
    expect([code, err]).toEqual([3, 'NOT_FOUND: event-1 has no job test: it has build.\n'])
  })
})

describe('what ends events, and starts them again', () => {
  it('cancels once, refuses to retry what runs, and deletes', async () => {
    await addProject('ends')
    await create('ends')
    await runtime.start('ends/event-1')
    const busy = await phaseline('event retry ends/event-1')
    expect(busy).toMatchObject({ code: 3, err: expect.stringContaining('BUSY') })
    expect(await phaseline('event cancel ends/event-1 --reason enough --wait')).toMatchObject({ code: 0 })
    expect(await phaseOf('ends/event-1')).toBe('ABORTED')
    const again = await phaseline('event cancel ends/event-1')
    expect(again).toMatchObject({ code: 3, err: expect.stringContaining('TRANSITION') })
    expect((await phaseline('event retry ends/event-1')).out).toMatch(/^ends\/event-2 created/)
    expect((await phaseline('event clone ends/event-1 --key k')).out).toMatch(/^ends\/event-3 created/)
    expect((await phaseline('event clone ends/event-1 --key k')).out).toMatch(/^ends\/event-3 created/)
    expect((await phaseline('event get ends/event-2')).out).toMatch(/^retries +event-1$/m)
    expect((await phaseline('event get ends/event-3')).out).toMatch(/^clone of +event-1$/m)
    expect(await phaseline('event delete ends/event-2 --wait')).toMatchObject({ code: 0 })
    expect(await phaseline('event get ends/event-2')).toMatchObject({ code: 3 })
    expect((await phaseline('retry ends/event-1')).out).toMatch(/^event-4 runs again what failed of event-1\n/)
  })

  it('ends many by a filter, after a question on a terminal only', async () => {
    await addProject('crowd', { limits: { maxWorkers: 0 } })
    for (const type of ['push', 'push', 'tag']) {
      await phaseline(`event create --source s --type ${type} --project crowd`)
    }
    /** At a terminal, with what the user types. */
    const typed = async (args: string, keys: string) => {
      let [out, err] = ['', '']
      const code = await run(args.split(' '), {
        env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN },
        stdin: Object.assign(Readable.from([Buffer.from(keys)]), { isTTY: true }),
        stdout: { write: (text) => (out += text) },
        stderr: { write: (text) => (err += text) },
        signal: new AbortController().signal,
      })
      return { code, out, err }
    }
    const cancel = 'event cancel-many --project crowd --phase pending --type push'
    expect(await typed(cancel, 'n\n')).toEqual({
      ...{ code: 130, out: 'Nothing was cancelled.\n', err: 'Cancel 2 events of project crowd? [y/N] ' },
    })
    expect(await listed('--project crowd --phase pending')).toHaveLength(3)
    expect(await phaseline('event cancel-many --project crowd --phase pending,succeeded')).toMatchObject({ code: 2 })
    expect(await phaseline('event delete-many --project crowd')).toMatchObject({ code: 2 })
    expect(await listed('--project crowd --phase pending')).toHaveLength(3)
    expect(await typed(cancel, 'y\n')).toMatchObject({ code: 0, out: '2 events cancelled\n' })
    expect(await listed('--project crowd --phase canceled')).toHaveLength(2)
    expect(await typed(`${cancel} --yes`, '')).toMatchObject({ code: 0, out: '0 events cancelled\n', err: '' })
    const removed = await phaseline('event delete-many --project crowd --phase pending --phase canceled --json')
    expect(documents(removed.out)).toEqual([{ count: 3 }])
    expect(await listed('--project crowd')).toEqual([])
  })
})
