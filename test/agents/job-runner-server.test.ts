import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { ResultOf, VariablesOf } from '../../src/documents/typed-document.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { type ReachableServer, startSharedServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { gadgetFolder } from './gadget-folder.ts'

const GROUP = join(import.meta.dirname, '../../examples/gadgets/group-replication')

const TASK = gql(`query Task($id: ID!) { object(id: $id) {
  phase
  children(first: 50) { edges { node { name phase progress { value total unit } ... on GadgetJob { activity exports journal { entry } } } } }
} }`)
type TaskNow = NonNullable<ResultOf<typeof TASK>['object']>
type JobInput = VariablesOf<typeof MUTATIONS.createTask>['input']['jobs'][number]

async function createTask({ client }: ReachableServer, name: string, jobs: readonly JobInput[]) {
  const { id } = await ask(client, MUTATIONS.createTask, { name, jobs })
  const now = async () => present((await client.query(TASK, { id })).object)
  return {
    id,
    now,
    ended: () =>
      until(async () => now().then((task) => (/^(SUCCEEDED|FAILED|ABORTED)$/.test(task.phase) ? task : null)), {
        what: `${name} has ended`,
      }),
  }
}

/** The processes that run jobs for this server. */
function runnersOf(server: ReachableServer): number[] {
  const { stdout } = spawnSync('ps', ['-ww', '-eo', 'pid=,args='], { encoding: 'utf8' })
  const lines = stdout.split('\n').filter((line) => line.includes(`gadget-job --url ${server.url}`))
  return lines.map((line) => Number.parseInt(line, 10))
}

describe('the runner of a real server', () => {
  it('runs the task of figure 1, its branches by what the servers are like', async () => {
    const state = await mkdtemp(join(tmpdir(), 'group-'))
    const group = async (...args: readonly string[]) => {
      const env = { ...process.env, PHASELINE_STATE: state }
      return (await promisify(execFile)(process.execPath, [join(GROUP, 'group.mjs'), ...args], { env })).stdout
    }
    try {
      await group('new', 'db1', 'binary-log')
      await using server = await startSharedServer({
        env: { PHASELINE_GADGETS: join(GROUP, 'gadgets'), PHASELINE_STATE: state },
      })
      const { jobs } = parse(await readFile(join(GROUP, 'task.yaml'), 'utf8')) as { jobs: JobInput[] }
      const first = await createTask(server, 'first', jobs).then((task) => task.ended())
      const phases = ({ children }: TaskNow) => children.edges.map(({ node: { name, phase } }) => `${name} ${phase}`)
      expect(phases(first).filter((job) => !job.endsWith(' DONE'))).toEqual([])
      expect(await group('status')).toBe('db1: ONLINE, users: replicator\n')
      const second = await createTask(server, 'second', jobs).then((task) => task.ended())
      const skipped = ['stopForUser', 'binaryLogOff', 'startForUser', 'createUser', 'grant'].map(
        (job) => `${job} SKIPPED`,
      )
      expect(phases(second).filter((job) => !job.endsWith(' DONE'))).toEqual(skipped)
    } finally {
      await group('stop')
      await rm(state, { recursive: true, force: true })
    }
  })

  it("keeps a gadget's last output, however it ends", async () => {
    await using folder = await gadgetFolder()
    await folder.add(
      'talks',
      `[ "$2" = --getlocks ] && exit 0
      [ "$2" = --undo ] && how=Undoing || how=Copying
      for n in 1 2 3; do echo STEP $how $n; echo PROGINFO 9 MiB; echo PROG 1; echo PROG $((n * 2)).5; done
      [ "$2" = fail ] && exit 3; exit 0`,
    )
    await using server = await startTestApp({ env: { PHASELINE_GADGETS: folder.path } })
    const jobs = Array.from({ length: 5 }, (_, i) => ({ name: `good-${i}`, gadget: 'talks' }))
    const [good, bad] = await Promise.all([
      createTask(server, 'good', jobs),
      createTask(server, 'bad', [{ name: 'bad', gadget: 'talks', args: ['fail'] }]),
    ])
    const recordOf = ({ children }: TaskNow) =>
      children.edges.map(({ node: { phase, activity, progress } }) => ({ phase, activity, progress }))
    const progress = { value: 6.5, total: 9, unit: 'MiB' }
    const done = { phase: 'DONE', activity: 'Copying 3', progress }
    expect(recordOf(await good.ended())).toEqual(jobs.map(() => done))
    expect(recordOf(await bad.ended())).toEqual([{ phase: 'FAILED', activity: 'Undoing 3', progress }])
  })

  it('interrupts the gadget of a cancelled task, lets it clean up, and frees its slot for a waiting one', async () => {
    await using folder = await gadgetFolder()
    await folder.add(
      'long',
      `case $2 in
        --getlocks) echo LOCK thing:one=X; exit 0;;
        --abort) echo abort >> "$dir/calls"; exit 0;;
      esac
      echo "run $2" >> "$dir/calls"; [ "$2" = b ] && exit 0
      trap 'echo int >> "$dir/calls"; exit 0' INT; echo STEP at work; while :; do sleep 0.05; done`,
    )
    await using server = await startTestApp({ env: { PHASELINE_GADGETS: folder.path } })
    const first = await createTask(server, 'first', [{ name: 'x', gadget: 'long', args: ['a'] }])
    await until(async () => (await first.now()).children.edges[0]?.node.activity === 'at work', { what: 'it runs' })
    const second = await createTask(server, 'second', [{ name: 'x', gadget: 'long', args: ['b'] }])
    await until(async () => (await second.now()).children.edges[0]?.node.phase === 'WAITING', { what: 'it waits' })
    await ask(server.client, MUTATIONS.cancelTask, { id: first.id })
    const { phase, children } = await first.ended()
    expect(phase).toBe('ABORTED')
    expect(children.edges[0]?.node.journal?.map(({ entry }) => entry)).toEqual(['START', 'ABORT'])
    expect((await second.ended()).phase).toBe('SUCCEEDED')
    expect(await folder.read('calls')).toBe('run a\nint\nabort\nrun b\n')
  })

  it('undoes before it runs again when runner and supervisor are killed together, and never beside the run', async () => {
    await using folder = await gadgetFolder()
    await folder.add(
      'long',
      `case $2 in
        --getlocks) echo LOCK thing:one=X; exit 0;;
        --undo) kill -0 "$(cat "$dir/pid")" 2>/dev/null && echo overlap >> "$dir/calls"; echo undo >> "$dir/calls"; exit 0;;
      esac
      echo run >> "$dir/calls"; echo $$ > "$dir/pid"; echo STEP at work
      [ "$(grep -c run "$dir/calls")" -gt 1 ] && { echo EXPORT n 2; exit 0; }
      trap '' INT TERM; while :; do sleep 0.1; done`,
    )
    await using server = await startSharedServer({ env: { PHASELINE_GADGETS: folder.path } })
    const task = await createTask(server, 'long', [{ name: 'x', gadget: 'long' }])
    await until(async () => (await task.now()).children.edges[0]?.node.activity === 'at work', { what: 'it runs' })
    const runners = runnersOf(server)
    expect(runners).toHaveLength(1)
    for (const pid of runners) process.kill(pid, 'SIGSTOP')
    await server.kill()
    for (const pid of runners) process.kill(pid, 'SIGKILL')
    await server.start()
    const { phase, children } = await task.ended()
    expect(phase).toBe('SUCCEEDED')
    expect(children.edges[0]?.node).toMatchObject({ phase: 'DONE', exports: { n: 2 } })
    expect(children.edges[0]?.node.journal?.map(({ entry }) => entry)).toEqual([
      'START',
      'UNDO_STARTED',
      'UNDO',
      'START',
      'DONE',
    ])
    expect(await folder.read('calls')).toBe('run\nundo\nrun\n')
  })
})
