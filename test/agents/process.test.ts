import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSupervisor } from '../../src/families/pipelines/agents/process/supervisor-client.ts'
import type { Runtime, Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { usualClones } from '../runtimes/place.ts'
import { canIsolate, ISOLATED } from '../testkit/bubblewrap.ts'
import { until } from '../testkit/wait.ts'
import { isAlive } from './gadget-folder.ts'
import { killSupervisor, listener, place, processesOf, URL, workload } from './process-place.ts'

/** Starts it and follows it to its end. */
async function runToEnd(runtime: Runtime, one: Workload) {
  await runtime.start(one, 'receipt')
  const { lines, watcher } = listener()
  return { end: await runtime.watch(one.id, watcher), lines }
}

const LEVELS = (await canIsolate())
  ? [['trusted', null] as const, ['isolated', ISOLATED] as const]
  : [['trusted', null] as const]

/** It gives its processes the mark of another one, which has ended, and does so again as they are ended. */
const PRETENDER = (id: string): string => `
  trap "" TERM
  pretend() { PHASELINE_WORKLOAD=${id} setsid sh -c 'trap "" TERM; touch up; while :; do sleep 0.05; done'; }
  # Once more behind a process that has no mark at all.
  env -u PHASELINE_WORKLOAD sh -c 'PHASELINE_WORKLOAD=${id} setsid sleep 1000' &
  while :; do pretend; done &
  until [ -e up ]; do sleep 0.05; done
  echo pretends; wait`

it.runIf(LEVELS.length > 1)('an isolated workload with the mark of another holds up no end but its own', async () => {
  await using at = await place(ISOLATED)
  const runtime = await at.open()
  const victim = workload('echo up; sleep 1000')
  const pretender = workload(PRETENDER(victim.id))
  const [ofVictim, ofPretender] = [listener(), listener()]
  await runtime.start(victim, 'receipt')
  await runtime.start(pretender, 'receipt')
  const ends = [runtime.watch(victim.id, ofVictim.watcher), runtime.watch(pretender.id, ofPretender.watcher)]
  const isUp = () => ofVictim.lines.includes('STDOUT up') && ofPretender.lines.includes('STDOUT pretends')
  await until(isUp, { what: 'both run' })
  const pretending = () => processesOf(victim.id).filter((pid) => processesOf(pretender.id).includes(pid) === false)
  await until(() => pretending().length > 4, { what: 'it pretends' })
  const before = pretending()
  await runtime.stop(victim.id)
  expect(await ends[0]).toEqual({ how: 'STOPPED' })
  // The processes that still live belong to the pretender, and were not ended with the victim.
  const after = processesOf(victim.id)
  expect(after.length).toBeGreaterThan(1)
  expect(after.filter((pid) => before.includes(pid))).not.toEqual([])
  await runtime.stop(pretender.id)
  expect(await ends[1]).toEqual({ how: 'STOPPED' })
  expect(processesOf(victim.id)).toEqual([])
  expect(processesOf(pretender.id)).toEqual([])
})

describe.each(LEVELS)('%s:', (level, isolation) => {
  describe('a workload', () => {
    it('is followed to its end, whatever it makes of the modes of its output', async () => {
      await using at = await place(isolation)
      const runtime = await at.open()
      const { end, lines } = await runToEnd(
        runtime,
        workload('chmod 0 /proc/self/fd/1 /proc/self/fd/2; sleep 0.3; echo shut; exit 3'),
      )
      expect(end).toEqual({ how: 'EXITED', exitCode: 3, signal: null })
      expect(lines).toContain('STDOUT shut')
    })

    it('gets its environment, files and event, and nothing of the runtime’s own', async () => {
      await using at = await place(isolation)
      const runtime = await at.open({ env: { ...process.env, OTHERS_SECRET: 'x', PHASELINE_TOKEN: 'the runtime’s' } })
      const one = workload('env; echo "in $PWD"; cat "$PHASELINE_EVENT" "$PHASELINE_SECRETS/KEY"; ./run.sh', {
        env: { A: '1', PHASELINE_PROJECT: 'no' },
        secrets: { KEY: 'marker', PHASELINE_URL: 'no' },
        files: [
          { path: 'run.sh', content: '#!/bin/sh\ncat deep/er/file' },
          { path: 'deep/er/file', content: '\nfrom file' },
        ],
        token: 'its own',
      })
      const { lines } = await runToEnd(runtime, one)
      const said = (text: string) => expect(lines).toContain(`STDOUT ${text}`)
      const folder = join(at.state, 'workloads', one.id)
      said('A=1')
      // A masked value proves that the workload has it.
      said('KEY=***')
      said('PHASELINE_TOKEN=***')
      said(`PHASELINE_URL=${URL}`)
      said('PHASELINE_PROJECT=shop')
      said(`PHASELINE_WORKSPACE=${join(folder, 'work')}`)
      said(`in ${join(folder, 'work')}`)
      said('{"id":"event","payload":"the payload"}***')
      said('from file')
      expect(lines.join('\n')).not.toMatch(/OTHERS_SECRET|the runtime’s/)
    })

    it('is private, and its secrets are in no arguments', async () => {
      await using at = await place(isolation)
      const runtime = await at.open()
      const one = workload('echo up; sleep 1000', { secrets: { KEY: 'marker-in-no-arguments' }, token: 'marker-token' })
      await runtime.start(one, 'receipt')
      const folder = join(at.state, 'workloads', one.id)
      const modes = new Map<string, number>()
      for (const entry of await readdir(at.state, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name)
        // The workload may write anything to its own /tmp.
        if (!path.startsWith(join(folder, 'tmp/'))) modes.set(path, (await stat(path)).mode & 0o077)
      }
      expect([...modes].filter(([, mode]) => mode !== 0)).toEqual([])
      expect(modes.has(join(folder, 'secrets/KEY')) && modes.has(join(folder, 'event.json'))).toBe(true)
      expect((await stat(at.state)).mode & 0o077).toBe(0)
      expect(spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout).not.toContain('marker-')
      for (const file of ['state.json', 'pid'])
        expect(await readFile(join(folder, file), 'utf8')).not.toContain('marker')
    })

    it.each<[string, Partial<Workload>, RegExp]>([
      ['a command that is not there', { command: ['no-such-program'] }, /no folder of the PATH/],
      ['a word of the shell', { command: ['exit'], args: ['0'] }, /no folder of the PATH/],
      ['a file that is no program', { command: ['./a'], files: [{ path: 'a', content: 'x' }] }, /no such executable/],
      ['no command', { command: [] }, /no command/],
      ['an image only', { command: [], image: 'alpine' }, /not images/],
      ['a file above its folder', { files: [{ path: '../x', content: '' }] }, /relative to the working folder/],
      ['a file anywhere', { files: [{ path: '/tmp/x', content: '' }] }, /relative to the working folder/],
      ['a secret with a NUL', { secrets: { KEY: 'mark\0er' } }, /KEY must not hold a NUL/],
      [
        'more than the system takes',
        { env: { BIG: 'x'.repeat(3_000_000) } },
        /its arguments and variables are longer than .*E2BIG/,
      ],
    ])('is not started with %s, and nothing is left of it', async (_, more, message) => {
      await using at = await place(isolation)
      const runtime = await at.open()
      const failed = await runtime.start(workload('true', more), 'receipt').catch((error: Error) => error)
      expect(failed).toMatchObject({ name: 'StartProblem', message: expect.stringMatching(message) })
      expect(String(failed)).not.toContain('mark')
      expect(await readdir(join(at.state, 'workloads'))).toEqual([])
    })

    it('writes no file through a link in the workspace', async () => {
      await using at = await place(isolation)
      const runtime = await at.open()
      const workspace = join(at.state, 'workspaces', 'w')
      await mkdir(join(at.state, 'outside'))
      await mkdir(workspace)
      await symlink(join(at.state, 'outside'), join(workspace, 'link'))
      await symlink(join(at.state, 'outside/target'), join(workspace, 'direct'))
      for (const path of ['link/file', 'direct']) {
        const one = workload('true', { workspace: 'w', files: [{ path, content: 'x' }] })
        await expect(runtime.start(one, 'receipt')).rejects.toThrow(/cannot be written|out of the folder/)
      }
      expect(await readdir(join(at.state, 'outside'))).toEqual([])
    })
  })

  describe('output', () => {
    it('is bounded in the length of a line and in all', async () => {
      await using at = await place(isolation)
      const runtime = await at.open({ output: { lines: 1_000, bytes: 1_000_000, totalBytes: 20_000 } })
      const { lines } = await runToEnd(
        runtime,
        workload('for i in 1 2 3 4 5; do head -c 10000 /dev/zero | tr "\\0" x; echo; done'),
      )
      expect(lines.map((line) => line.length)).toEqual([8_199, 8_199, 8_199, expect.any(Number), expect.any(Number)])
      expect(lines.slice(3)).toEqual([
        'SYSTEM Its output is larger than 20000 bytes: the rest is dropped.',
        'SYSTEM 2 lines were dropped: the output is too large.',
      ])
    })
  })

  describe('ending a workload', () => {
    it('is stopped once, however many ask for it', async () => {
      await using at = await place(isolation)
      const runtime = await at.open()
      for (let round = 0; round < 10; round += 1) {
        const one = workload('sleep 1000')
        await runtime.start(one, 'receipt')
        const stopping: Promise<void>[] = []
        const isStopped = (): boolean => {
          stopping.push(runtime.stop(one.id))
          return processesOf(one.id).length === 0
        }
        await until(isStopped, { what: 'stopped' })
        await Promise.all(stopping)
        expect(await runtime.watch(one.id, listener().watcher)).toEqual({ how: 'STOPPED' })
      }
    })

    it('kills processes that ignore it, their children, and those that have left the group', async () => {
      // In a sandbox also the two processes of bubblewrap.
      const count = level === 'isolated' ? 8 : 6
      await using at = await place(isolation)
      const runtime = await at.open()
      const one = workload(
        'trap "" TERM; sleep 1000 & setsid sleep 1000 & setsid sh -c "setsid sleep 1000 & sleep 1000" & echo up; wait',
      )
      await runtime.start(one, 'receipt')
      const { lines, watcher } = listener()
      void runtime.watch(one.id, watcher)
      await until(() => lines.includes('STDOUT up') && processesOf(one.id).length === count, { what: 'all processes' })
      await runtime.remove(one.id, null)
      expect(processesOf(one.id)).toEqual([])
      expect(await runtime.list()).toEqual([])
    })

    it('kills the processes that it leaves behind', async () => {
      await using at = await place(isolation)
      const runtime = await at.open()
      const one = workload('sleep 1000 & setsid sleep 1000 & echo up')
      expect(await runToEnd(runtime, one)).toMatchObject({ end: { exitCode: 0 }, lines: ['STDOUT up'] })
      expect(processesOf(one.id)).toEqual([])
    })

    it('gets no descriptor that whoever started the runtime has left open', async () => {
      await using at = await place(isolation)
      const list = workload('ls -l /proc/self/fd | sed "s/.* \\([0-9]* ->\\)/\\1/"')
      const secret = join(at.state, 'left-open')
      await writeFile(secret, 'x')
      const program = `
        import { openProcessRuntime } from '${join(import.meta.dirname, '../../src/families/pipelines/agents/process/process-runtime.ts')}'
        const [options, one] = process.argv.slice(1).map((text) => JSON.parse(text))
        await using runtime = await openProcessRuntime({ ...options, env: process.env })
        await runtime.start(one, 'receipt')
        const signal = new AbortController().signal
        await runtime.watch(one.id, { signal, onRunning() {}, onLine: (_, line) => console.log(line) })
        await runtime.remove(one.id, null)`
      const options = { state: join(at.state, 'of-its-own'), url: URL, isolation, graceMs: 300 }
      await mkdir(options.state)
      // As a shell does with 5<file and 9>file.
      const arguments_ = [
        process.execPath,
        '--input-type=module',
        '-e',
        program,
        JSON.stringify(options),
        JSON.stringify(list),
      ]
      const { stdout, stderr } = spawnSync('/bin/sh', ['-c', 'exec "$@" 5<"$0" 9>>"$0"', secret, ...arguments_], {
        encoding: 'utf8',
      })
      expect(stdout, stderr).toMatch(/^0 -> \/dev\/null$/m)
      const numbers = [...stdout.matchAll(/^(\d+) -> /gm)].map(([, fd]) => Number(fd))
      // The last one is the folder that ls reads.
      expect(numbers, stdout).toEqual([0, 1, 2, 3])
      expect(stdout).not.toContain('left-open')
    })

    it('never touches a stranger that has got the pid meanwhile', async () => {
      await using at = await place(isolation)
      const runtime = await at.open()
      const stranger = spawn('sleep', ['1000'], { detached: true })
      const ended = new Promise((resolve) => stranger.once('exit', resolve))
      try {
        const one = workload('touch up; sleep 1000')
        await runtime.start(one, 'receipt')
        const folder = join(at.state, 'workloads', one.id)
        // A sandbox that is still being made does not notice that its supervisor is gone.
        await until(() => existsSync(join(folder, 'work/up')), { what: 'it runs' })
        const file = join(folder, 'pid')
        const [pid = '', started = ''] = (await readFile(file, 'utf8')).trim().split(' ')
        await killSupervisor(at.state)
        if (isAlive(Number(pid))) process.kill(-Number(pid), 'SIGKILL')
        await until(() => processesOf(one.id).length === 0, { what: 'gone' })
        // Never that of the stranger by chance, which may have started in the same hundredth of a second.
        const earlier = started.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10))
        await writeFile(file, `${stranger.pid} ${earlier}\n`)
        const other = await at.open()
        expect(await other.watch(one.id, listener().watcher)).toMatchObject({ how: 'GONE' })
        await other.remove(one.id, null)
        expect(isAlive(stranger.pid ?? 0)).toBe(true)
      } finally {
        stranger.kill('SIGKILL')
        await ended
      }
    })
  })

  describe('a runtime that comes back', () => {
    it('keeps its instance name, finds its workloads, and refuses to share its folder', async () => {
      await using at = await place(isolation)
      const first = await at.open()
      const { instance } = first
      const one = workload('sleep 1000')
      await first.start(one, 'a')
      expect(await first.updateReceipt(one.id, 'b')).toBe(true)
      expect(await first.updateReceipt(randomUUID(), 'b')).toBe(false)
      const { openProcessRuntime } = await import('../../src/families/pipelines/agents/process/process-runtime.ts')
      await expect(
        openProcessRuntime({ state: at.state, url: URL, env: {}, isolation, clone: usualClones() }),
      ).rejects.toThrow(/is in use/)
      const second = await at.open()
      expect(second.instance).toBe(instance)
      expect(await second.list()).toEqual([{ id: one.id, receipt: 'b' }])
    })
  })

  describe('a supervisor', () => {
    it('that is killed takes its workloads with it, and the next workload gets another', async () => {
      await using at = await place(isolation)
      const runtime = await at.open()
      const one = workload('setsid sleep 1000 & echo up; sleep 1000')
      await runtime.start(one, 'receipt')
      const { lines, watcher } = listener()
      const watching = runtime.watch(one.id, watcher)
      await until(() => lines.includes('STDOUT up'), { what: 'it runs' })
      await killSupervisor(at.state)
      expect(await watching).toMatchObject({ how: 'GONE' })
      expect(processesOf(one.id)).toEqual([])
      expect(await runToEnd(runtime, workload('echo up'))).toMatchObject({ end: { exitCode: 0 }, lines: ['STDOUT up'] })
    })

    it('that was killed while a workload started leaves it gone, not to be started again', async () => {
      await using at = await place(isolation)
      const folder = join(at.state, 'workloads', 'half')
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(join(folder, 'state.json'), JSON.stringify({ receipt: 'x', workspace: null, workerId: 'half' }))
      await writeFile(join(folder, 'pid'), 'starting\n')
      const runtime = await at.open()
      expect(await runtime.list()).toEqual([{ id: 'half', receipt: 'x' }])
      expect(await runtime.watch('half', listener().watcher)).toMatchObject({ how: 'GONE' })
    })

    it('ends with the last workload when there is no runtime', async () => {
      await using at = await place(isolation)
      const runtime = await at.open()
      const one = workload('echo up; sleep 1000')
      await runtime.start(one, 'receipt')
      await runtime[Symbol.asyncDispose]()
      const pid = Number((await readFile(join(at.state, 'supervisor.pid'), 'utf8')).split(' ')[0])
      expect(isAlive(pid)).toBe(true)
      const next = await at.open()
      await next.remove(one.id, null)
      await next[Symbol.asyncDispose]()
      await until(() => !isAlive(pid), { what: 'the supervisor has ended' })
    })
  })

  describe('exactly once', () => {
    it('what a killed runtime has asked for last either is known to the next one, or never runs', async () => {
      await using at = await place(isolation)
      await using stack = new AsyncDisposableStack()
      const runtime = await at.open()
      await runToEnd(runtime, workload('true'))
      for (let round = 0; round < 8; round += 1) {
        const supervisor = stack.use(await openSupervisor(at.state))
        const id = `start-${round}`
        const folder = join(at.state, 'workloads', id)
        await mkdir(folder, { mode: 0o700 })
        const env = { PATH: process.env.PATH ?? '', PHASELINE_WORKLOAD: id }
        const command = ['/bin/sh', '-c', 'echo x >> ran; exec sleep 1000']
        const started = supervisor.start({ id, folder, workingFolder: folder, command, env, input: null })
        const isDone = started.then(
          () => true,
          () => false,
        )
        // Sometimes before the start has been read, sometimes after.
        await new Promise((resolve) => setTimeout(resolve, round % 4))
        const next = stack.use(await openSupervisor(at.state))
        const isKnown = next.holds(id)
        await isDone
        expect(existsSync(join(folder, 'pid'))).toBe(isKnown)
        if (isKnown) {
          // Not by its environment, which is empty for a moment while it is executed.
          const [pid] = (await readFile(join(folder, 'pid'), 'utf8')).split(' ')
          process.kill(Number(pid), 'SIGKILL')
          await next.exited(id)
        }
        next.release(id)
      }
    })

    it('a start that broke off before its workload ran is forgotten', async () => {
      await using at = await place(isolation)
      const runtime = await at.open()
      const late = join(at.state, 'workloads', 'late')
      await mkdir(late)
      await writeFile(join(late, 'state.json'), JSON.stringify({ receipt: 'x', workspace: null, workerId: 'late' }))
      expect(await runtime.list()).toEqual([])
      expect(existsSync(late)).toBe(false)
    })
  })
})
