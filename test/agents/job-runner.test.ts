import { describe, expect, it } from 'vitest'
import type { InterimReport, StopReason, WorkContext, WorkItem } from '../../src/client/index.ts'
import { jobWork } from '../../src/families/operations/agents/job-work.ts'
import { until } from '../testkit/wait.ts'
import { type GadgetFolder, gadgetFolder, isAlive } from './gadget-folder.ts'

const item = (action: WorkItem['action'], config: unknown): WorkItem => ({
  fence: 'f',
  objectId: 'o',
  kind: 'GADGET_JOB',
  name: 'x',
  jobId: 'job-1',
  projectId: 'project-1',
  action,
  type: 'gadget-job',
  target: null,
  config,
  attempt: 1,
  token: null,
})

/** As the agent's loop gives it: a lost lease stops the work as well. */
function context() {
  const [stop, lost] = [new AbortController(), new AbortController()]
  const reports: InterimReport[] = []
  const lines: string[] = []
  const given: WorkContext = {
    signal: stop.signal,
    lost: lost.signal,
    report: (report) => reports.push(report),
    log: (stream, text) => lines.push(`${stream} ${text}`),
  }
  const end = (reason: StopReason): void => {
    stop.abort(reason)
    if (reason === 'LOST') lost.abort(reason)
  }
  return { ...given, end, reports, lines }
}

function runner(folder: GadgetFolder, graceMs = 60_000) {
  const groups: string[] = []
  const work = jobWork({
    folders: [folder.path],
    env: { PATH: process.env.PATH },
    graceMs,
    shortMs: 60_000,
    onGroup: (_group, state) => groups.push(state),
  })
  return {
    groups,
    act: async (action: WorkItem['action'], config: object, seen = context()) =>
      await work(item(action, { gadget: 'x', ...config }), seen),
  }
}

/** Part of the config of an undo. */
const becomes = (phase: string) => ({ next: phase })

/** A gadget that records its calls; a run reports that it works, and works until it is ended. */
const LONG = `echo "\${2:-run}" >> "$dir/calls"
[ "$2" = --abort ] && exit 0
[ "$2" = --undo ] && exit 0
echo $$ > "$dir/pid"
`

describe('the runner of jobs', () => {
  it('calls the gadget with the same arguments in every mode, and reports as the machine has it', async () => {
    await using folder = await gadgetFolder()
    await folder.add(
      'x',
      `echo "$PHASELINE_PROJECT $PHASELINE_JOB $@ $GADGET_N" >> "$dir/calls"
      case $2 in
        --getlocks) echo LOCK db:a=S; echo LOCK db:b=X; echo LOCK db:a=X;;
        --undo|--abort) echo STEP Taking back;;
        *) echo STEP Copying; echo PROGINFO 5 GiB; echo PROG 2.36; echo EXPORT n 7;;
      esac`,
    )
    const { act, groups } = runner(folder)
    const call = { args: ['a b', 1, true], env: { GADGET_N: '$(id)' } }
    expect(await act('GET_LOCKS', call)).toEqual({
      phase: 'WAITING',
      locks: [
        { resource: 'db:a', mode: 'EXCLUSIVE' },
        { resource: 'db:b', mode: 'EXCLUSIVE' },
      ],
    })
    const seen = context()
    expect(await act('RUN', call, seen)).toEqual({ phase: 'DONE', exports: { n: 7 } })
    expect(seen.reports.at(-1)).toEqual({ progress: { step: 'Copying', value: 2.36, total: 5, unit: 'GiB' } })
    expect(seen.lines).toEqual(['STEP Copying'])
    for (const phase of ['FAILED', 'RUNNING', 'ABORTED']) {
      expect(await act('UNDO', { ...call, ...becomes(phase) })).toEqual({ phase })
    }
    expect(await act('ABORT', call)).toEqual({ phase: 'ABORTED' })
    const rest = 'a b 1 true $(id)'
    const modes = ['--getlocks ', '', '--undo ', '--undo ', '--undo ', '--abort ']
    expect(await folder.read('calls')).toBe(
      modes.map((mode) => `project-1 job-1 --protocol=text-1.0 ${mode}${rest}\n`).join(''),
    )
    expect(groups).toEqual(modes.flatMap(() => ['started', 'ended']))
  })

  it.each([
    ['exit 3', 'GADGET_FAILED', 'exit code 3'],
    ['kill -KILL $$', 'GADGET_FAILED', 'SIGKILL'],
    ['echo Error the disk is full', 'GADGET_FAILED', 'the disk is full'],
    ['echo STEP fine; echo Hello', 'GADGET_PROTOCOL', 'Line 2: the unknown word "Hello"'],
  ])('has a job undone whose gadget does: %s', async (script, code, message) => {
    await using folder = await gadgetFolder()
    await folder.add('x', script)
    const { act } = runner(folder)
    const error = { code, message: expect.stringContaining(message) }
    expect(await act('RUN', {})).toEqual({ phase: 'UNDOING', error })
    expect(await act('UNDO', becomes('RUNNING'))).toEqual({ phase: 'UNDO_FAILED', error })
    const abortError = { code: 'GADGET_ABORT_FAILED', message: expect.stringContaining(message) }
    expect(await act('ABORT', {})).toEqual({ phase: 'UNDO_FAILED', error: abortError })
    const locks = await act('GET_LOCKS', {})
    // STEP is nothing to say when asked for locks.
    expect(locks).toMatchObject({ phase: 'FAILED', error: { code } })
  })

  it('refuses a gadget that is not in its folders, with the phase of each action', async () => {
    await using folder = await gadgetFolder()
    const { act } = runner(folder)
    const error = { code: 'GADGET_NOT_FOUND' }
    for (const gadget of ['../x', '/bin/true', 'y']) {
      expect(await act('GET_LOCKS', { gadget })).toMatchObject({ phase: 'FAILED', error })
      expect(await act('RUN', { gadget })).toMatchObject({ phase: 'UNDOING', error })
      expect(await act('UNDO', { gadget })).toMatchObject({ phase: 'UNDO_FAILED', error })
      expect(await act('ABORT', { gadget })).toMatchObject({ phase: 'UNDO_FAILED', error })
    }
    expect(await act('RUN', { env: { LD_PRELOAD: 'x' } })).toMatchObject({ error: { code: 'GADGET_CONFIG' } })
  })

  it('aborts with SIGINT, then cleans up, also when the gadget then ended with 0', async () => {
    await using folder = await gadgetFolder()
    await folder.add(
      'x',
      `${LONG}trap 'echo int >> "$dir/calls"; exit 0' INT\necho STEP on\nwhile :; do sleep 0.05; done`,
    )
    const seen = context()
    const stopping = { ...seen, log: () => seen.end('ABORT_REQUESTED') }
    expect(await runner(folder).act('RUN', {}, stopping)).toEqual({ phase: 'ABORTED' })
    expect(await folder.read('calls')).toBe('run\nint\n--abort\n')
  })

  it('kills a gadget that does not end within the grace, and everything that it has started', async () => {
    await using folder = await gadgetFolder()
    await folder.add(
      'x',
      `${LONG}trap '' INT\nsleep 1000 & echo $! > "$dir/child"\necho STEP on\nwhile :; do sleep 1; done`,
    )
    const seen = context()
    const stopping = { ...seen, log: () => seen.end('ABORT_REQUESTED') }
    expect(await runner(folder, 100).act('RUN', {}, stopping)).toEqual({ phase: 'ABORTED' })
    for (const file of ['pid', 'child']) {
      const pid = Number(await folder.read(file))
      await until(() => !isAlive(pid), { what: `${file} is gone` })
    }
    expect(await folder.read('calls')).toBe('run\n--abort\n')
  })

  it('reports nothing and leaves nothing running when its lease is lost or it is shut down', async () => {
    await using folder = await gadgetFolder()
    await folder.add('x', `${LONG}trap '' INT\necho STEP on\nwhile :; do sleep 1; done`)
    for (const reason of ['LOST', 'SHUTDOWN'] as const) {
      const seen = context()
      const { act, groups } = runner(folder, 100)
      expect(await act('RUN', {}, { ...seen, log: () => seen.end(reason) }), reason).toBeNull()
      expect(groups).toEqual(['started', 'ended'])
      const pid = Number(await folder.read('pid'))
      await until(() => !isAlive(pid), { what: 'it is gone' })
    }
    expect(await folder.read('calls')).toBe('run\nrun\n')
  })

  it('completes an undo despite abort requests, but not without a lease', async () => {
    await using folder = await gadgetFolder()
    const undoWith = async (reason: StopReason, seconds: number) => {
      await folder.add('x', `echo STEP back; sleep ${seconds}; echo undone >> "$dir/calls"`)
      const seen = context()
      return await runner(folder, 100).act('UNDO', becomes('FAILED'), { ...seen, log: () => seen.end(reason) })
    }
    expect(await undoWith('ABORT_REQUESTED', 0.3)).toEqual({ phase: 'FAILED' })
    expect(await undoWith('LOST', 1_000)).toBeNull()
    expect(await folder.read('calls')).toBe('undone\n')
  })

  it('does not wait for ever for an answer about locks', async () => {
    await using folder = await gadgetFolder()
    await folder.add('x', 'exec sleep 1000')
    const work = jobWork({ folders: [folder.path], env: { PATH: process.env.PATH }, graceMs: 100, shortMs: 200 })
    const late = { message: expect.stringContaining('did not end within 0.2 s') }
    expect(await work(item('GET_LOCKS', { gadget: 'x' }), context())).toMatchObject({ phase: 'FAILED', error: late })
    expect(await work(item('ABORT', { gadget: 'x' }), context())).toMatchObject({ phase: 'UNDO_FAILED', error: late })
  })
})
