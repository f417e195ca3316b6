import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { expect, test } from 'vitest'
import { pause } from '../../src/client/pause.ts'
import {
  type Runtime,
  StartProblem,
  type Taken,
  type Workload,
  type WorkloadEnd,
} from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { listener, type Place, URL, workload } from './place.ts'

/** The behaviour of every runtime, whatever it runs workloads on. `openPlace` makes a place of its own for each test. */

export interface Conformance {
  openPlace(): Promise<Place>
  /** It runs images, and says so when one cannot be had. */
  readonly hasImages: boolean
  /** It passes on standard error as such. */
  readonly tellsErrorsApart: boolean
  /** Secrets are variables, too. */
  readonly hasSecretVariables: boolean
  /** Workloads take seconds to start: only the cases that differ most from place to place are in the short form. */
  readonly isSlow?: boolean
}

/** Starts it and follows it to its end. A runtime may notice only then that it cannot be started. */
export async function runToEnd(
  runtime: Runtime,
  one: Workload,
): Promise<{ end: WorkloadEnd | null; lines: string[]; commits: readonly unknown[] }> {
  const { lines, watcher, commits } = listener()
  try {
    await runtime.start(one, 'receipt')
  } catch (error) {
    if (error instanceof StartProblem) {
      const { code, message, output } = error
      // As the agent of the runtime does.
      for (const line of output) watcher.onLine('SYSTEM', line)
      return { end: { how: 'NOT_STARTED', code, message }, lines, commits }
    }
    throw error
  }
  return { end: await runtime.watch(one.id, watcher), lines, commits }
}

async function startAndHear(runtime: Runtime, one: Workload, line: string) {
  await runtime.start(one, 'receipt')
  const heard = listener()
  const watching = runtime.watch(one.id, heard.watcher)
  await until(() => heard.lines.includes(`STDOUT ${line}`), { what: line })
  return { ...heard, watching }
}

type Refused = [string, Partial<Workload>, RegExp]
const OF_IMAGES: readonly Refused[] = [
  ['an image that cannot be had', { image: 'localhost/no-such-image:1' }, /no-such-image/],
  ['no image', { image: null }, /no image/],
]
const OF_COMMANDS: readonly Refused[] = [['no command', { command: [] }, /no command/]]

export function conformance({ openPlace, hasImages, isSlow = false, ...sees }: Conformance): void {
  const { tellsErrorsApart, hasSecretVariables } = sees
  const testIfFast = test.runIf(!isSlow || soak(false, true))

  test('a workload runs, its output is passed on in order, and its exit code or signal is told', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    // A cluster joins a line without an end with what the other output writes next: the two are kept apart in time.
    const spoke = await runToEnd(runtime, workload(at, 'seq 1 300; echo two >&2; sleep 1; printf three; exit 3'))
    expect(spoke.end).toEqual({ how: 'EXITED', exitCode: 3, signal: null })
    const numbers = Array.from({ length: 300 }, (_, i) => `STDOUT ${i + 1}`)
    expect(spoke.lines.filter((line) => /STDOUT \d/.test(line))).toEqual(numbers)
    expect(spoke.lines).toContain(tellsErrorsApart ? 'STDERR two' : 'STDOUT two')
    expect(spoke.lines).toContain('STDOUT three')
    expect((await runToEnd(runtime, workload(at, 'exit 0'))).end).toMatchObject({ exitCode: 0, signal: null })
    expect((await runToEnd(runtime, workload(at, 'sh -c "kill -9 \\$\\$"; exit $?'))).end).toMatchObject({
      exitCode: null,
      signal: 'SIGKILL',
    })
  })

  test('a workload gets its variables, files, event, secrets and token, and nothing else', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const script = `env; echo "in $PWD"; cat "$PHASELINE_EVENT" "$PHASELINE_SECRETS/KEY"; echo; ./run.sh
      cat "$PHASELINE_TOKEN_FILE" 2> /dev/null || echo "$PHASELINE_TOKEN"`
    const one = workload(at, script, {
      env: { A: '1', PHASELINE_PROJECT: 'no' },
      secrets: { KEY: 'marker', PHASELINE_URL: 'no' },
      files: [
        { path: 'run.sh', content: '#!/bin/sh\ncat deep/er/file' },
        { path: 'deep/er/file', content: 'from file\n' },
      ],
      token: 'its-own-token',
    })
    const { lines, end } = await runToEnd(runtime, one)
    expect(end, lines.join('\n')).toMatchObject({ exitCode: 0 })
    const said = (text: string) => expect(lines).toContain(`STDOUT ${text}`)
    said('A=1')
    said(`PHASELINE_URL=${URL}`)
    said('PHASELINE_PROJECT=shop')
    said(`PHASELINE_WORKER_ID=${one.workerId}`)
    // A masked value proves that the workload has it.
    said('{"id":"event","payload":"the payload"}***')
    said('from file')
    said('***')
    if (hasSecretVariables) said('KEY=***')
    const workspace = lines.find((line) => line.startsWith('STDOUT PHASELINE_WORKSPACE='))?.split('=')[1]
    said(`in ${workspace}`)
    expect(lines.join('\n')).not.toMatch(/marker|OTHERS_SECRET|its-own-token/)
  })

  testIfFast('its secrets and its token are in nothing that others can see', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const one = workload(at, 'echo up; sleep 1000', {
      secrets: { KEY: 'marker-secret' },
      token: 'marker-token',
      args: [],
    })
    const { watching } = await startAndHear(runtime, one, 'up')
    const described = await at.describe(one.id)
    expect(described).toContain(one.id)
    expect(described).not.toContain('marker-')
    await runtime.remove(one.id, null)
    expect(await watching).toEqual({ how: 'STOPPED' })
  })

  testIfFast('jobs share their worker’s workspace, which goes with the worker; nothing is left then', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const worker = workload(at, 'echo from worker > note')
    const shared = { workspace: worker.id, workerId: worker.id }
    await runToEnd(runtime, { ...worker, ...shared })
    const [first, second] = [workload(at, 'cat note', shared), workload(at, 'cat note', shared)]
    expect((await runToEnd(runtime, first)).lines).toEqual(['STDOUT from worker'])
    await runtime.remove(first.id, null)
    expect((await runToEnd(runtime, second)).lines).toEqual(['STDOUT from worker'])
    const alone = workload(at, 'cat note')
    expect((await runToEnd(runtime, alone)).end).toMatchObject({ exitCode: 1 })
    // In any order, and more than once.
    await runtime.remove(worker.id, worker.id)
    await runtime.remove(second.id, null)
    await runtime.remove(alone.id, null)
    await runtime.remove(worker.id, worker.id)
    expect(await runtime.list()).toEqual([])
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  testIfFast('the last job that leaves the workspace removes what it has written there after its worker', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const worker = workload(at, 'sleep 1000')
    const shared = { workspace: worker.id, workerId: worker.id }
    await runtime.start({ ...worker, ...shared }, 'receipt')
    const script = `trap '' TERM; cd /; echo up; while :; do mkdir -p "$PHASELINE_WORKSPACE"; echo > "$PHASELINE_WORKSPACE/late"; sleep 0.05; done`
    const job = workload(at, script, shared)
    await startAndHear(runtime, job, 'up')
    await runtime.remove(worker.id, worker.id)
    await pause(300)
    await runtime.remove(job.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  test('another takes what one has left: a file as it is, a folder with its files, modes and links', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const long = `${'a'.repeat(120)}/${'b'.repeat(120)}`
    const making = `mkdir -p out/dist/empty "out/dist/${long}"; cd out/dist; printf one > 1; : > none
      printf deep > "${long}/file"; printf '#!/bin/sh\necho runs' > run; chmod +x run; ln -s 1 link; ln -s ../1 empty/up
      head -c 1000000 /dev/zero > zeros; printf report > ../report`
    const one = workload(at, making, { leaves: true })
    expect((await runToEnd(runtime, one)).end).toMatchObject({ exitCode: 0 })
    const folder = await leftBy(runtime, one.id, 'out/dist')
    const file = await leftBy(runtime, one.id, 'out/report')
    expect(folder).toMatchObject({ isFolder: true })
    expect(file).toEqual({ isFolder: false, content: Buffer.from('report') })
    expect(await runtime.readLeft(one.id, 'out/none')).toBeNull()
    expect(await runtime.readLeft(one.id, 'report/out')).toBeNull()
    // The same content is the same archive.
    expect(await leftBy(runtime, one.id, 'out/dist')).toEqual(folder)
    await runtime.remove(one.id, null)

    const reading = `cat in/report; echo; cd in/it; ./run; cat 1 link empty/up "${long}/file"; echo; wc -c < none; wc -c < zeros
      find . -type l | sort; find . -type d | wc -l; echo more > 1 && echo > new && cat 1`
    const takes = [takenOf('in/report', file), takenOf('in/it', folder)]
    const { lines, end } = await runToEnd(runtime, workload(at, reading, { takes }))
    expect(end, lines.join('\n')).toMatchObject({ exitCode: 0 })
    const read = lines.map((line) => line.replace(/^STDOUT +/, ''))
    expect(read).toEqual(['report', 'runs', 'oneoneonedeep', '0', '1000000', './empty/up', './link', '4', 'more'])
  })

  test('what leads out of a folder, or is no file, is not left; it says why', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const making = `mkdir -p up abs pipe good; ln -s ../../etc up/x; ln -s /etc/passwd abs/x; mkfifo pipe/x; ln -s good link
      ln -s /etc root; : > good/1`
    const one = workload(at, making, { leaves: true })
    expect((await runToEnd(runtime, one)).end).toMatchObject({ exitCode: 0 })
    const problem = async (path: string) => await leftBy(runtime, one.id, path).catch((error: Error) => error.message)
    expect(await problem('up')).toMatch(/link "x" leads out of the folder/)
    expect(await problem('abs')).toMatch(/link "x" leads out of the folder/)
    expect(await problem('pipe')).toMatch(/x" is no file, folder or symbolic link/)
    // Podman follows it, within the container and no further.
    const link = await problem('link')
    expect(typeof link === 'string' ? link : 'a symbolic link').toMatch(/symbolic link|no file and no folder/)
    expect(await problem('pipe/x')).toMatch(/is no file/)
    expect(await leftBy(runtime, one.id, 'good')).toMatchObject({ isFolder: true })
  })

  const hostile: readonly [string, Partial<Header>, RegExp][] = [
    ['a path above its folder', { name: '../x' }, /"\.\.\/x" leads out of the folder/],
    ['a path from the root', { name: '/tmp/x' }, /leads out of the folder/],
    ['a link above its folder', { type: 'symlink', linkname: '../../x' }, /"x" leads out/],
    ['a link to the root', { type: 'symlink', linkname: '/etc' }, /"x" leads out/],
    ['a hard link', { type: 'link', linkname: '/etc/passwd' }, /"x" is a hard link/],
    ['a device', { type: 'character-device' }, /no file, folder or symbolic link/],
    ['more bytes than a folder has', { size: 2 ** 31 }, /bytes/],
  ]
  test('an archive that leads out of its folder, or holds too much, is not taken; it says why', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    for (const [what, header, message] of hostile) {
      const takes = [takenOf('in', { isFolder: true, content: await archiveOf(header) })]
      const one = workload(at, 'true', { takes })
      const error = await runtime.start(one, 'receipt').then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(error, what).toMatchObject({ message: expect.stringMatching(message) })
      await runtime.remove(one.id, null)
    }
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  const refused: readonly Refused[] = [
    ['a command that is not there', { command: ['no-such-program'] }, /no-such-program|PATH/],
    ['a file above its folder', { files: [{ path: '../x', content: '' }] }, /relative to the working folder/],
    ['a file anywhere', { files: [{ path: '/tmp/x', content: '' }] }, /relative to the working folder/],
    ['a variable with a NUL', { env: { KEY: 'mark\0er' } }, /KEY must not hold a NUL/],
    ['a NUL in its command', { command: ['sh', '-c', 'mark\0er'] }, /must not hold a NUL/],
    ...(hasImages ? OF_IMAGES : OF_COMMANDS),
  ]
  test.each(refused)('it is not started with %s; it says why, and nothing is left of it', async (_, more, message) => {
    await using at = await openPlace()
    const runtime = await at.open()
    const one = workload(at, 'true', more)
    const { end } = await runToEnd(runtime, one)
    expect(end).toMatchObject({ how: 'NOT_STARTED', message: expect.stringMatching(message) })
    expect(JSON.stringify(end)).not.toContain('mark')
    await runtime.remove(one.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  testIfFast('output beyond the limits is dropped, and a line tells how much', async () => {
    await using at = await openPlace()
    const runtime = await at.open({ output: { lines: 20, bytes: 1_000_000, totalBytes: 1_000_000 } })
    // A node may lose what a container prints in its last moment: `kubectl logs` of `seq 1 20000` alone has 7,594 lines on some.
    const { lines, end } = await runToEnd(runtime, workload(at, 'seq 1 20000; sleep 2'))
    expect(end).toMatchObject({ exitCode: 0 })
    const said = lines.filter((line) => line.startsWith('STDOUT'))
    const dropped = lines.flatMap((line) => /^SYSTEM (\d+) lines were dropped/.exec(line)?.[1] ?? [])
    expect(said[0]).toBe('STDOUT 1')
    expect(said.length).toBeGreaterThanOrEqual(100)
    expect(said.length).toBeLessThan(5_000)
    expect(said.length + dropped.reduce((sum, n) => sum + Number(n), 0)).toBe(20_000)
  })

  testIfFast('a line that is too long is cut', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const { lines } = await runToEnd(runtime, workload(at, 'head -c 100000 /dev/zero | tr "\\0" x; echo; echo end'))
    expect(lines.map((line) => line.length)).toEqual([8_199, 10])
  })

  testIfFast('it ends politely when it is asked to, and is STOPPED', async () => {
    await using at = await openPlace()
    const runtime = await at.open({ graceMs: 20_000 })
    const one = workload(at, 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done')
    const { lines, watcher, watching, timesRunning } = await startAndHear(runtime, one, 'up')
    await Promise.all([runtime.stop(one.id), runtime.stop(one.id)])
    expect(await watching).toEqual({ how: 'STOPPED' })
    expect(lines).toContain('STDOUT bye')
    expect(timesRunning()).toBe(1)
    expect(await runtime.watch(one.id, watcher)).toEqual({ how: 'STOPPED' })
    await runtime.stop(one.id)
  })

  testIfFast('it is killed when it does not end, with all that it has started', async () => {
    await using at = await openPlace()
    const runtime = await at.open({ graceMs: 1_000 })
    const one = workload(at, 'trap "" TERM; sleep 1000 & echo up; wait; sleep 1000')
    const { watching } = await startAndHear(runtime, one, 'up')
    await runtime.remove(one.id, null)
    expect(await watching).toEqual({ how: 'STOPPED' })
    expect(await at.isRunning(one.id)).toBe(false)
    expect(await runtime.list()).toEqual([])
  })

  test('what is ended from outside is gone, and says so', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const one = workload(at, 'echo up; sleep 1000')
    const { watching } = await startAndHear(runtime, one, 'up')
    await at.endFromOutside(one.id)
    expect(await watching).toMatchObject({ how: 'GONE', reason: 'DELETED' })
    expect(await at.isRunning(one.id)).toBe(false)
  })

  test('an unknown workload is gone, and removed', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const { id } = workload(at, 'true')
    expect(await runtime.watch(id, listener().watcher)).toMatchObject({ how: 'GONE' })
    expect(await runtime.updateReceipt(id, 'x')).toBe(false)
    await runtime.stop(id)
    await runtime.remove(id, id)
  })

  testIfFast('what was started is not started again', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const one = workload(at, 'echo up; sleep 1000')
    const { lines, watching } = await startAndHear(runtime, one, 'up')
    await expect(runtime.start(one, 'again')).rejects.toThrow(/already/)
    expect(await at.isRunning(one.id)).toBe(true)
    expect(lines).toEqual(['STDOUT up'])
    await runtime.stop(one.id)
    expect(await watching).toEqual({ how: 'STOPPED' })
  })

  testIfFast('a runtime that comes back has its name, its workloads and their newest receipts', async () => {
    await using at = await openPlace()
    const first = await at.open()
    const one = workload(at, 'sleep 1000')
    await first.start(one, 'a')
    expect(await first.updateReceipt(one.id, 'b')).toBe(true)
    const second = await at.open()
    expect(second.instance).toBe(first.instance)
    expect(await second.list()).toEqual([{ id: one.id, receipt: 'b' }])
  })

  test('what runs is adopted after a kill -9, and none of its output is missed', async () => {
    await using at = await openPlace()
    const worker = workload(at, 'true')
    const shared = { workspace: worker.id, workerId: worker.id }
    const wait = (name: string) => `while [ ! -e ${name} ]; do sleep 0.05; done`
    const script = `echo before; ${wait('a')}; echo meanwhile; ${wait('b')}; echo after; exit 5`
    const one = workload(at, script, shared)
    const killed = runAway(at, one)
    await until(() => killed.said().includes('before\n'), { what: 'before' })
    await kill(killed.child)
    const runtime = await at.open()
    expect(await runtime.list()).toEqual([{ id: one.id, receipt: 'the receipt' }])
    const go = async (name: string) => {
      const end = await runToEnd(runtime, workload(at, `echo > ${name}`, shared))
      expect(end).toMatchObject({ end: { exitCode: 0 } })
    }
    const { lines, watcher } = listener()
    const watching = runtime.watch(one.id, watcher)
    await go('a')
    await until(() => lines.includes('STDOUT meanwhile'), { what: 'meanwhile' })
    await go('b')
    expect(await watching).toEqual({ how: 'EXITED', exitCode: 5, signal: null })
    // The last line read before the kill may be repeated.
    const heard = lines.filter((line) => line !== 'STDOUT before')
    expect(heard).toEqual(['SYSTEM Its runtime is back and has adopted it.', 'STDOUT meanwhile', 'STDOUT after'])
    await runtime.remove(worker.id, worker.id)
  })

  testIfFast('what ends while no runtime runs is told with its last output', async () => {
    await using at = await openPlace()
    const first = await at.open()
    const one = workload(at, 'echo last words; exit 7')
    await first.start(one, 'receipt')
    await until(async () => !(await at.isRunning(one.id)), { what: 'ended' })
    const second = await at.open()
    const { lines, watcher } = listener()
    expect(await second.watch(one.id, watcher)).toEqual({ how: 'EXITED', exitCode: 7, signal: null })
    expect(lines).toContain('STDOUT last words')
    expect(await second.watch(one.id, watcher)).toEqual({ how: 'EXITED', exitCode: 7, signal: null })
  })

  testIfFast('who stops watching lets it run on', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const one = workload(at, 'echo up; sleep 1000')
    await runtime.start(one, 'receipt')
    const leaving = new AbortController()
    const { lines, watcher } = listener(leaving.signal)
    const watching = runtime.watch(one.id, watcher)
    await until(() => lines.includes('STDOUT up'), { what: 'up' })
    leaving.abort()
    expect(await watching).toBeNull()
    expect(await at.isRunning(one.id)).toBe(true)
  })

  testIfFast(
    'a runtime that is killed at any moment of a start has started it once, or not at all',
    {
      timeout: 300_000,
    },
    async () => {
      await using at = await openPlace()
      const worker = workload(at, 'true')
      const shared = { workspace: worker.id, workerId: worker.id }
      for (const delayMs of [0, 15, 40, 80, 120, 200]) {
        const one = workload(at, `echo x >> runs-of-it; sleep 1000`, shared)
        const script = one.command.map((part) => part.replace('runs-of-it', `runs-${one.id}`))
        const counted = { ...one, command: script }
        const killed = runAway(at, counted)
        await until(() => killed.said().includes('opened\n'), { what: 'opened' })
        await new Promise((resolve) => setTimeout(resolve, delayMs))
        await kill(killed.child)
        const runtime = await at.open()
        const isKnown = (await runtime.list()).some(({ id }) => id === one.id)
        if (!isKnown) await runtime.start(counted, 'the receipt')
        const count = async () => {
          const reads = workload(at, `cat runs-${one.id}`, shared)
          const { lines } = await runToEnd(runtime, reads)
          await runtime.remove(reads.id, null)
          return lines.filter((line) => line === 'STDOUT x').length
        }
        await until(async () => (await count()) > 0, { what: 'it runs' })
        expect(await count()).toBe(1)
        await runtime.remove(one.id, null)
        await at.close()
      }
      const runtime = await at.open()
      for (const { id } of await runtime.list()) await runtime.remove(id, null)
      await runtime.remove(worker.id, worker.id)
      await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
    },
  )
}

interface LeftContent {
  readonly isFolder: boolean
  readonly content: Buffer
}
async function leftBy(runtime: Runtime, id: string, path: string): Promise<LeftContent> {
  const left = await runtime.readLeft(id, path)
  if (!left) throw new Error(`There is no ${path}.`)
  return { isFolder: left.isFolder, content: await buffer(left.body) }
}
async function* bytesOf(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += 1_000) yield content.subarray(at, at + 1_000)
}
const takenOf = (path: string, { isFolder, content }: LeftContent): Taken => ({
  ...{ artifact: 'dist', path, isFolder, size: content.length, body: bytesOf(content) },
})

/** Its headers alone, as one that lies has them. */
async function archiveOf({ size = 0, ...header }: Partial<Header>): Promise<Buffer> {
  const archive = pack()
  archive.entry({ name: 'x', ...header }, '')
  archive.finalize()
  const block = await buffer(archive as AsyncIterable<Buffer>)
  block.write(size.toString(8).padStart(11, '0'), 124)
  block.write(' '.repeat(8), 148)
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0`, 148)
  return gzipSync(block)
}

/** Starts it from a runtime in a process of its own, which is to be killed. */
export function runAway(at: Place, one: Workload): { readonly child: ChildProcess; said(): string } {
  const program = join(import.meta.dirname, 'runtime-process.ts')
  const child = spawn(process.execPath, [program, JSON.stringify(one), ...at.program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, OTHERS_SECRET: 'x' },
  })
  let said = ''
  child.stdout?.on('data', (text) => {
    said += String(text)
  })
  return { child, said: () => said }
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
