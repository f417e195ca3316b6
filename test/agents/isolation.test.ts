import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Workload } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { canIsolate, ISOLATED } from '../testkit/bubblewrap.ts'
import { until } from '../testkit/wait.ts'
import { listener, type Place, place, processesOf, workload } from './process-place.ts'

/**
 * The worker of one project that wants to become administrator: it reads what processes and files of this machine show to
 * the user of the runtime, and reaches for what listens here. Each line that it prints is something that it got.
 */
const ATTACK = `
got() { echo "got $1"; }
try() { name=$1; shift; "$@" >/dev/null 2>&1 && got "$name"; }
# Files are opened for writing, and nothing is written.
write() { name=$1; (: >>"$2") 2>/dev/null && got "$name"; }

cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -q "$MARK[-]of-neighbour" && got 'environment of a neighbour'
try 'a signal to the runtime' kill -0 "$RUNTIME"
try 'the environment of the runtime' test -r "/proc/$RUNTIME/environ"
try 'the memory of the runtime' head -c 0 "/proc/$RUNTIME/mem"
try 'open files of the runtime' ls "/proc/$RUNTIME/fd/0"
try 'the secret key' cat "$DATA/secret-key"
try 'secrets of a neighbour' cat "$STATE/workloads/$NEIGHBOUR/secrets/KEY"
try 'the working folder of a neighbour' ls "$STATE/workloads/$NEIGHBOUR/work"
try 'what the runtime notes of it' cat "$STATE/workloads/$PHASELINE_WORKLOAD/state.json"
(: >>"$STATE/workloads/$PHASELINE_WORKLOAD/written") 2>/dev/null
write 'the data folder' "$DATA/written"
write 'the folder of the system' /usr/written-by-a-workload
write 'settings of the kernel' /proc/sys/kernel/core_pattern
try 'a port of this machine' node -e 'require("node:net").connect(process.env.PORT, "127.0.0.1").once("connect", () => process.exit(0)).once("error", () => process.exit(1))'
try 'a socket of this machine' node -e 'require("node:net").connect(process.env.DATA + "/socket").once("connect", () => process.exit(0)).once("error", () => process.exit(1))'
try 'a user namespace' unshare --user true
try 'the mode of what has made the sandbox' chmod --reference=/proc/1/exe /proc/1/exe
rm -f /usr/written-by-a-workload
echo done`

const EVERYTHING = [
  'environment of a neighbour',
  'a signal to the runtime',
  'the environment of the runtime',
  'the memory of the runtime',
  'open files of the runtime',
  'the secret key',
  'secrets of a neighbour',
  'the working folder of a neighbour',
  'what the runtime notes of it',
  'the data folder',
  'a port of this machine',
  'a socket of this machine',
  'its own state',
]

/** Runs the attack beside a neighbour, a data folder and servers like those of an installation; returns what it could reach. */
async function attack(at: Place): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack()
  const data = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-data-')), (path) => rm(path, { recursive: true }))
  await writeFile(join(data, 'secret-key'), 'key', { mode: 0o600 })
  const listen = async (where: number | string) => {
    const server = stack.adopt(createServer(), (s) => void s.close())
    await new Promise<void>((resolve) =>
      server.listen({ ...(typeof where === 'string' ? { path: where } : { port: where, host: '127.0.0.1' }) }, resolve),
    )
    return server.address()
  }
  await listen(join(data, 'socket'))
  const address = await listen(0)
  const port = typeof address === 'object' ? String(address?.port) : ''
  const runtime = await at.open()
  const mark = 'mark'
  const neighbour = workload('sleep 1000', { secrets: { KEY: `${mark}-of-neighbour` } })
  await runtime.start(neighbour, 'receipt')
  const env = {
    DATA: data,
    STATE: at.state,
    NEIGHBOUR: neighbour.id,
    RUNTIME: String(process.pid),
    PORT: port,
    MARK: mark,
  }
  const attacker = workload(ATTACK, { env, token: 'a token' })
  await runtime.start(attacker, 'receipt')
  const { lines, watcher } = listener()
  expect(await runtime.watch(attacker.id, watcher)).toEqual({ how: 'EXITED', exitCode: 0, signal: null })
  expect(lines).toContain('STDOUT done')
  const got = lines.flatMap((line) => /^STDOUT got (.*)/.exec(line)?.[1] ?? [])
  // In its own /tmp an isolated one may write anything.
  return existsSync(join(at.state, 'workloads', attacker.id, 'written')) ? [...got, 'its own state'] : got
}

test('a trusted worker gets everything that the user of the runtime can get', async () => {
  await using at = await place()
  expect(await attack(at)).toEqual(expect.arrayContaining(EVERYTHING))
})

const isolates = await canIsolate()

test.runIf(isolates)('an isolated worker gets nothing', async () => {
  await using at = await place(ISOLATED)
  expect(await attack(at)).toEqual([])
})

test.runIf(isolates)('with the network of the machine it gets that and nothing else', async () => {
  await using at = await place({ ...ISOLATED, network: 'host' })
  expect(await attack(at)).toEqual(['a port of this machine'])
})

test.runIf(isolates)('the processes that make a sandbox run without the environment of its workload', async () => {
  await using at = await place(ISOLATED)
  const runtime = await at.open()
  const one = workload('exec sleep 1000', {
    env: { LD_PRELOAD: '/nowhere/evil.so', MARK: 'of its own' },
    secrets: { KEY: 'marker' },
  })
  await runtime.start(one, 'receipt')
  const environmentOf = (pid: number): string => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8')
    } catch {
      // It has ended meanwhile.
      return ''
    }
  }
  const outside = `PHASELINE_WORKLOAD=${one.id}`
  const environments = () =>
    processesOf(one.id).map((pid) =>
      environmentOf(pid)
        .split('\0')
        .filter((entry) => !/^(PWD|OLDPWD|_|SHLVL)=/.test(entry))
        .join(' ')
        .trim(),
    )
  // That of bubblewrap, and two in the sandbox: the first has the environment of bubblewrap until it is executed.
  await until(() => environments()[2]?.includes('MARK=of its own'), { what: 'the workload runs' })
  expect(environments().map((text) => text === outside)).toEqual([true, false, false])
})

test.runIf(isolates)(
  'an isolated worker has a home and a folder for temporary files, and they go with it',
  async () => {
    await using at = await place(ISOLATED)
    const runtime = await at.open()
    const one = workload(
      'echo $HOME $TMPDIR $(whoami); touch ~/x /dev/shm/x && ls /tmp | grep x; ls -A / | tr "\\n" " "',
    )
    await runtime.start(one, 'receipt')
    const { lines, watcher } = listener()
    await runtime.watch(one.id, watcher)
    expect(lines).toEqual(expect.arrayContaining(['STDOUT /tmp /tmp worker', 'STDOUT x']))
    expect(lines.join()).not.toMatch(/\b(root|home|opt|srv|var|boot|sys)\b/)
    expect(existsSync(join(at.state, 'workloads', one.id, 'tmp/x'))).toBe(true)
    await runtime.remove(one.id, null)
    expect(readdirSync(join(at.state, 'workloads'))).toEqual([])
  },
)

const CALLS = { x64: [39, 250, 298, 425, 41], arm64: [172, 219, 241, 425, 198] }[process.arch as 'x64' | 'arm64']

test.runIf(isolates && CALLS)('the kernel refuses calls that lead past the sandbox, and takes others', async () => {
  const answers = async (isolation: typeof ISOLATED | null) => {
    await using at = await place(isolation)
    const runtime = await at.open()
    const [getpid, ...refused] = CALLS ?? []
    // A null pointer is EFAULT, and a family of 40 is AF_VSOCK, which stands outside of network namespaces.
    const one = workload(
      `perl -e 'for (@ARGV) { $! = 0; my $r = syscall($_, 40, 0, 0, 0, 0); print "$_ ", $r > 0 ? 0 : $! + 0, "\\n" }' ${getpid} ${refused.join(' ')}
      ls -l /proc/self/fd | wc -l`,
    )
    await runtime.start(one, 'receipt')
    const { lines, watcher } = listener()
    await runtime.watch(one.id, watcher)
    return lines.map((line) => line.replace(/^STDOUT (\d+ )?/, ''))
  }
  const trusted = await answers(null)
  const [EPERM, ENOSYS, EAFNOSUPPORT] = ['1', '38', '97']
  const [own, ...others] = await answers(ISOLATED)
  // The shell and bubblewrap leave no descriptor open.
  expect([own, ...others]).toEqual(['0', EPERM, EPERM, ENOSYS, EAFNOSUPPORT, trusted.at(-1)])
  expect(trusted[0]).toBe('0')
})

/** A program of x86-64 that asks for its end by a call of i386, with 5, and if that is refused by its own, with the error. */
const FOREIGN = Buffer.concat([
  Buffer.from('7f454c4602010100000000000000000002003e00010000007800400000000000', 'hex'),
  Buffer.from('4000000000000000000000000000000000000000400038000100000000000000', 'hex'),
  Buffer.from('0100000005000000000000000000000000004000000000000000400000000000', 'hex'),
  Buffer.from('960000000000000096000000000000000010000000000000', 'hex'),
  Buffer.from('b801000000bb05000000cd8089c7f7dfb83c0000000f05', 'hex'),
])

test.runIf(isolates && process.arch === 'x64')('calls of another architecture are refused', async () => {
  await using at = await place(ISOLATED)
  const runtime = await at.open()
  const escaped = [...FOREIGN].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  const one = workload(`printf '${escaped}' >foreign; chmod +x foreign; ./foreign`)
  await runtime.start(one, 'receipt')
  const ENOSYS = 38
  expect(await runtime.watch(one.id, listener().watcher)).toMatchObject({ exitCode: ENOSYS })
})

test.runIf(isolates)('a command that the sandbox does not show is refused, whether there is one or not', async () => {
  await using stack = new AsyncDisposableStack()
  const hidden = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-tools-')), (path) => rm(path, { recursive: true }))
  await writeFile(join(hidden, 'there'), '#!/bin/sh', { mode: 0o755 })
  const at = stack.use(await place(ISOLATED))
  const runtime = await at.open()
  const links = workload(`ln -s ${hidden}/there there; ln -s ${hidden}/missing missing; ln -s /bin/true shown`, {
    workspace: 'w',
  })
  await runtime.start(links, 'receipt')
  await runtime.watch(links.id, listener().watcher)
  const service = { name: 'db', image: null, args: [], env: {}, ports: [], user: null, secrets: [] }
  const attempts = (name: string): readonly Partial<Workload>[] => [
    { command: [join(hidden, name)] },
    { command: [name], env: { PATH: hidden } },
    { command: [`./${name}`], workspace: 'w' },
    { services: [{ ...service, command: [join(hidden, name)], readiness: { port: null, command: [], timeoutMs: 1 } }] },
    {
      services: [
        { ...service, command: ['true'], readiness: { port: null, command: [join(hidden, name)], timeoutMs: 1 } },
      ],
    },
  ]
  for (const name of ['there', 'missing'])
    for (const attempt of attempts(name))
      await expect(runtime.start(workload('', attempt), 'receipt')).rejects.toThrow(/"(.*)" cannot be run/)
  const shown = workload('', { command: ['./shown'], workspace: 'w' })
  await runtime.start(shown, 'receipt')
  expect(await runtime.watch(shown.id, listener().watcher)).toMatchObject({ exitCode: 0 })
})

test.runIf(isolates)('further folders can be read, and not written', async () => {
  await using stack = new AsyncDisposableStack()
  const tools = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-tools-')), (path) => rm(path, { recursive: true }))
  await mkdir(join(tools, 'bin'))
  await writeFile(join(tools, 'bin/tool'), '#!/bin/sh\necho from the tool')
  await chmod(join(tools, 'bin/tool'), 0o755)
  const at = stack.use(await place({ ...ISOLATED, folders: [tools] }))
  const env = { ...process.env, PATH: `${tools}/bin:${process.env.PATH}` }
  const runtime = await at.open({ env })
  const one = workload(`tool; (: >>${tools}/x) || exit 3`)
  await runtime.start(one, 'receipt')
  const { lines, watcher } = listener()
  expect(await runtime.watch(one.id, watcher)).toMatchObject({ exitCode: 3 })
  expect(lines).toContain('STDOUT from the tool')
})
