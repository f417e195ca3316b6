import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type GadgetRun, runGadget } from '../../src/client/gadget/run-gadget.ts'
import { until } from '../testkit/wait.ts'
import { type GadgetFolder, gadgetFolder, isAlive } from './gadget-folder.ts'

const run = (path: string, options: Partial<GadgetRun> = {}) =>
  runGadget({ path, args: [], mode: 'run', env: { PATH: process.env.PATH ?? '' }, graceMs: 60_000, ...options })
const pidIn = async (folder: GadgetFolder, name: string): Promise<number> => {
  await until(async () => (await folder.read(name)).endsWith('\n'), { what: `${name} is written` })
  return Number(await folder.read(name))
}

describe('runGadget', () => {
  it('hands over options and arguments as they are, without a shell, an input or a secret', async () => {
    await using folder = await gadgetFolder()
    const path = await folder.add('tell', 'for a; do echo "$a" >&2; done; env >&2; cat >&2; echo end >&2')
    const lines: string[] = []
    const args = ['a b', '$(touch /tmp/no)', '"; rm', '']
    const result = await run(path, { args, mode: 'undo', env: { GADGET_X: '1' }, onLog: (line) => lines.push(line) })
    expect(result).toEqual({ outcome: 'succeeded', exports: {}, locks: [] })
    expect(lines.slice(0, 6)).toEqual(['--protocol=text-1.0', '--undo', ...args])
    expect(lines.slice(6, -1).map((line) => line.split('=')[0])).toEqual(expect.arrayContaining(['GADGET_X']))
    expect(lines.join()).not.toContain('HOME=')
    expect(lines.at(-1)).toBe('end')
  })

  it('gives exports, steps and locks', async () => {
    await using folder = await gadgetFolder()
    const path = await folder.add(
      'work',
      'if [ "$2" = --getlocks ]; then echo LOCK server:a=S; else echo Protocol text-1.0; echo STEP a; printf "EXPORT x 1"; fi',
    )
    const steps: string[] = []
    expect(await run(path, { onStep: (step) => steps.push(step) })).toMatchObject({ exports: { x: 1 } })
    expect(steps).toEqual(['a'])
    expect(await run(path, { mode: 'getlocks' })).toMatchObject({ locks: [{ resource: 'server:a', mode: 'SHARED' }] })
  })

  it('loses no last output, however busy its agent is when it ends', async () => {
    await using folder = await gadgetFolder()
    // Its pipe has something to be read only once the agent has been told of the end, and is busy.
    const path = await folder.add(
      'late',
      '(setsid sh -c "touch $0.up; sleep 0.2; echo EXPORT late 1; touch $0.said" &); while [ ! -e $0.up ]; do sleep 0.01; done',
    )
    const beBusy = (): void => {
      while (!existsSync(`${path}.said`));
    }
    const onGroup: GadgetRun['onGroup'] = (_, state) => {
      if (state === 'ended') process.nextTick(() => queueMicrotask(beBusy))
    }
    expect(await run(path, { onGroup })).toMatchObject({ outcome: 'succeeded', exports: { late: 1 } })
  })

  it.each([
    ['exit 3', 'exit', 'It ended with exit code 3.'],
    ['kill -9 $$', 'signal', 'It was ended by SIGKILL.'],
    ['echo Error no disk; exit 0', 'error', 'no disk'],
    [
      'i=0; while [ $i -lt 20 ]; do printf "EXPORT a$i \\"%060000d\\"\\n" 0; i=$((i+1)); done',
      'protocol',
      'It broke the gadget protocol: exports is larger than 1048576 characters.',
    ],
    ['echo hello; sleep 100', 'protocol', 'It broke the gadget protocol. Line 1: the unknown word "hello".'],
  ])('fails with %j', async (script, cause, message) => {
    await using folder = await gadgetFolder()
    const path = await folder.add('fail', script)
    // An interrupt is lost on a shell that starts a program just then.
    expect(await run(path, { graceMs: 1_000 })).toMatchObject({ outcome: 'failed', cause, message })
  })

  it('fails when it cannot be started', async () => {
    expect(await run('/does/not/exist')).toMatchObject({ outcome: 'failed', cause: 'start' })
    await using folder = await gadgetFolder()
    const path = await folder.add('never', 'exit 0')
    const long = (length: number): string => 'x'.repeat(length)
    for (const tooMuch of [
      { args: [long(200_000)] },
      { args: Array.from({ length: 120 }, () => long(30_000)) },
      { env: { GADGET_X: long(131_072) } },
    ])
      expect(await run(path, tooMuch)).toMatchObject({
        ...{ outcome: 'failed', cause: 'start', exitCode: null },
        message: expect.stringMatching(/^It could not be started: its arguments and variables are longer than .*E2BIG/),
      })
  })

  it('is stopped when it was interrupted, whatever its exit code', async () => {
    await using folder = await gadgetFolder()
    const path = await folder.add(
      'polite',
      'trap "echo bye >&2; exit 0" INT; echo STEP ready; while :; do sleep 0.05; done',
    )
    const stop = new AbortController()
    const lines: string[] = []
    const result = await run(path, {
      signal: stop.signal,
      onStep: () => stop.abort(),
      onLog: (line) => lines.push(line),
    })
    expect(result).toEqual({ outcome: 'stopped' })
    expect(lines).toEqual(['bye'])
  })

  it('is killed with all of its group when it does not stop in time, or when it must stop at once', async () => {
    await using folder = await gadgetFolder()
    const script = 'trap "" INT; sleep 1000 & echo $! > "$dir/child"; echo STEP ready; while :; do sleep 0.05; done'
    const path = await folder.add('stubborn', script)
    for (const how of ['signal', 'kill'] as const) {
      const stop = new AbortController()
      const graceMs = how === 'signal' ? 100 : 60_000
      const result = await run(path, { [how]: stop.signal, graceMs, onStep: () => stop.abort() })
      expect(result).toEqual({ outcome: 'stopped' })
      const child = await pidIn(folder, 'child')
      await until(() => !isAlive(child), { what: 'the child is gone' })
    }
  })

  it('leaves no process of its group behind, except in a session of its own', async () => {
    await using folder = await gadgetFolder()
    const path = await folder.add(
      'parent',
      `sleep 1000 & echo $! > "$dir/group"
setsid sh -c 'echo $$ > "$0/session"; exec sleep 1000' "$dir" > /dev/null 2>&1 &
while ! [ -s "$dir/session" ]; do sleep 0.01; done`,
    )
    expect(await run(path)).toMatchObject({ outcome: 'succeeded' })
    const [group, session] = [await pidIn(folder, 'group'), await pidIn(folder, 'session')]
    await until(() => !isAlive(group), { what: 'the group is gone' })
    expect(isAlive(session)).toBe(true)
    process.kill(session, 'SIGKILL')
  })

  it('does not run at all when it is stopped already', async () => {
    await using folder = await gadgetFolder()
    const path = await folder.add('touch', 'touch "$dir/touched"')
    expect(await run(path, { signal: AbortSignal.abort() })).toEqual({ outcome: 'stopped' })
    expect(await folder.read('touched')).toBe('')
  })
})
