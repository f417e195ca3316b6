import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FolderInUse, lockFolder } from '../../src/process/folder-lock.ts'
import { identityOf } from '../../src/process/identity.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/store/embedded/index.ts'
import { until } from '../testkit/wait.ts'

const logger = pino({ level: 'silent' })
const start = (dataDir: string, signal?: AbortSignal) =>
  startEmbeddedPostgres({ dataDir, logger, ...(signal && { signal }) })

/** A data folder that was used and left, to be copied: initdb takes longer. */
let used: string
let base: string
let ending: AsyncDisposableStack

const makeFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-embedded-'))
  await chmod(folder, 0o755)
  return folder
}
const useAgain = () => execFileSync('cp', ['-a', `${used}/.`, base])

beforeAll(async () => {
  used = await makeFolder()
  await (await start(used))[Symbol.asyncDispose]()
})
afterAll(() => rm(used, { recursive: true, force: true }))
beforeEach(async () => {
  base = await makeFolder()
  ending = new AsyncDisposableStack()
  ending.defer(() => rm(base, { recursive: true, force: true }))
})
afterEach(() => ending.disposeAsync())

async function ask<R extends object>({ connection }: EmbeddedPostgres, sql: string): Promise<R[]> {
  const client = new Client(connection)
  await client.connect()
  try {
    return (await client.query<R>(sql)).rows
  } finally {
    await client.end()
  }
}
const startTime = async (postgres: EmbeddedPostgres) =>
  (await ask<{ at: string }>(postgres, 'select pg_postmaster_start_time()::text as at'))[0]?.at
const postmasterPid = async (dataDir: string) =>
  Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])

describe('an embedded Postgres', () => {
  test('keeps committed rows, listens on no port and has a socket that only its user reaches', async () => {
    const first = await start(base)
    await ask(first, 'create table kept as select 42 as answer')
    expect(await ask(first, 'show listen_addresses')).toEqual([{ listen_addresses: '' }])
    expect(
      await ask(first, `select name from pg_settings where name in ('fsync', 'synchronous_commit') and setting = 'on'`),
    ).toHaveLength(2)
    expect((await stat(first.connection.host as string)).mode & 0o777).toBe(0o700)
    await first[Symbol.asyncDispose]()
    await expect(ask(first, 'select 1')).rejects.toThrow()

    await using second = await start(base)
    expect(await ask(second, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  test('refuses a second server on the same folder, named by its pid, and the first continues', async () => {
    useAgain()
    await using first = await start(base)
    await expect(start(base)).rejects.toThrow(`in use by the server with pid ${process.pid}`)
    expect(await ask(first, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('refuses a folder that another user could have filled, with a token for example', async () => {
    useAgain()
    await chmod(base, 0o777)
    await expect(start(base)).rejects.toThrow(`Every user may write in the folder ${base}`)
    await chmod(base, 0o2775)
    await (await start(base))[Symbol.asyncDispose]()
    if (process.getuid?.() !== 0) return
    await chown(base, 65_534, 65_534)
    await expect(start(base)).rejects.toThrow(`The folder ${base} belongs to the user 65534`)
  })

  test('of a killed server is taken over while it runs, and stopped in the end', async () => {
    useAgain()
    const killed = await startProcess(base)
    const pid = await postmasterPid(base)
    killed.kill('SIGKILL')
    await once(killed, 'exit')

    const heir = await start(base)
    expect(await postmasterPid(base)).toBe(pid)
    await heir[Symbol.asyncDispose]()
    expect(await identityOf(pid)).toBeNull()
  })

  test('that the previous server is stopping is waited for, not attached to', async () => {
    useAgain()
    const killed = await startProcess(base)
    const pid = await postmasterPid(base)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    process.kill(pid, 'SIGINT')

    await using heir = await start(base)
    expect(await ask(heir, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(await postmasterPid(base)).not.toBe(pid)
  })

  test('that dies is started again with everything committed', async () => {
    useAgain()
    await using postgres = await start(base)
    await ask(postgres, 'create table kept as select 42 as answer')
    const before = await startTime(postgres)
    process.kill(await postmasterPid(base), 'SIGKILL')
    await until(async () => (await startTime(postgres).catch(() => before)) !== before, { what: 'it is up again' })
    expect(await ask(postgres, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  // As after a restart of a container; and as in one whose first process does not reap, right after a kill.
  test.each([
    ['another process has its old pid', 'echo $$; exec sleep 1000'],
    ['its old process is a zombie', '(exit 0) & echo $!; exec sleep 1000'],
  ])('starts although %s, and touches no process', async (_, script) => {
    useAgain()
    const { uid, gid } = await stat(join(base, 'postgres'))
    const other = spawn('sh', ['-c', script], { uid, gid, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] })
    ending.defer(() => void other.kill())
    const [pid] = await once(other.stdout, 'data')
    const stale = [Number(pid), join(base, 'postgres'), Math.floor(Date.now() / 1_000), 5432, join(base, 'run'), '']
    await writeFile(join(base, 'postgres/postmaster.pid'), `${stale.join('\n')}\n`)

    await using postgres = await start(base)
    expect(await ask(postgres, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(other.exitCode ?? other.signalCode).toBeNull()
  })

  test('starts where an initdb was interrupted', async () => {
    await mkdir(join(base, 'postgres.new'))
    await writeFile(join(base, 'postgres.new/PG_VERSION'), '17\n')
    await using postgres = await start(base)
    expect(await ask(postgres, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('of another major version is refused before any file changes', async () => {
    await mkdir(join(base, 'postgres'))
    await writeFile(join(base, 'postgres/PG_VERSION'), '16\n')
    await expect(start(base)).rejects.toThrow(/is of Postgres 16 and the embedded one is 17/)
    expect(await readdir(join(base, 'postgres'))).toEqual(['PG_VERSION'])
  })

  test('works at the end of a path that is too long for a socket, and is found there again', async () => {
    const deep = join(base, 'a-folder-with-a-rather-long-name', 'and-another-one-within-it', 'and-a-third-to-be-sure')
    const killed = await startProcess(deep)
    const sockets = (await readFile(join(deep, 'sockets-are-in'), 'utf8')).trim()
    ending.defer(() => rm(sockets, { recursive: true, force: true }))
    const pid = await postmasterPid(deep)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    await using heir = await start(deep)
    expect(await postmasterPid(deep)).toBe(pid)
    expect(heir.connection.host).toBe(sockets)
  })

  test('works in a folder that others may not pass through; a removed data folder starts anew', async () => {
    // Root's Postgres runs as somebody else, who could not get here.
    const dataDir = join(base, 'private', 'data')
    await mkdir(join(base, 'private'), { mode: 0o700 })
    await visit()
    await rm(dataDir, { recursive: true })
    await visit()

    async function visit(): Promise<void> {
      await using postgres = await start(dataDir)
      const elsewhere = await readFile(join(dataDir, 'postgres-is-in'), 'utf8').catch(() => '')
      if (elsewhere) ending.defer(() => rm(elsewhere.trim(), { recursive: true, force: true }))
      await ask(postgres, 'create table visited ()')
    }
  })

  test('gives up starting on a signal, and frees the folder', async () => {
    useAgain()
    await expect(start(base, AbortSignal.abort(new Error('never mind')))).rejects.toThrow('never mind')
    await using postgres = await start(base)
    expect(await ask(postgres, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})

describe('the lock of a data folder', () => {
  test('of a running server of 0.1.0 is respected', async () => {
    const identity = await identityOf(process.pid)
    await writeFile(join(base, 'server.lock.1'), JSON.stringify({ pid: process.pid, identity }))
    const lock = { folder: base, prefix: 'server.lock.', inUse: (pid: number) => `in use by ${pid}` }
    await expect(lockFolder(lock)).rejects.toThrow(`in use by ${process.pid}`)
  })

  // Such as a server without an init in its container.
  test('of the first process of a machine or a container is respected', async () => {
    await writeFile(join(base, 'server.lock.1'), `1 ${await identityOf(1)}\n`)
    const lock = { folder: base, prefix: 'server.lock.', inUse: (pid: number) => `in use by ${pid}` }
    await expect(lockFolder(lock)).rejects.toThrow('in use by 1')
  })

  test('of a killed server goes to one of many at a time', async () => {
    await writeFile(join(base, 'server.lock.1'), JSON.stringify({ pid: process.pid, identity: 'of an earlier one' }))
    const lock = { folder: base, prefix: 'server.lock.', inUse: (pid: number) => `in use by ${pid}` }
    let holders = 0
    let taken = 0
    const contend = async () => {
      while (taken < 200) {
        const held = await lockFolder(lock).catch((error: unknown) => {
          if (error instanceof FolderInUse) return null
          throw error
        })
        if (!held) continue
        taken++
        expect(++holders).toBe(1)
        await setImmediate()
        holders--
        await held[Symbol.asyncDispose]()
      }
    }
    await Promise.all(Array.from({ length: 8 }, contend))
    expect((await readdir(base)).length).toBeLessThan(3)
  })
})

async function startProcess(dataDir: string): Promise<ChildProcess> {
  const script = join(import.meta.dirname, '../testkit/embedded-process.ts')
  const child = spawn(process.execPath, [script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  ending.defer(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    if (!(await stat(join(dataDir, 'postgres/postmaster.pid')).catch(() => null))) return
    // After a test that failed: Postgres outlives the process, which is the point of it.
    const heir = await start(dataDir)
    await heir[Symbol.asyncDispose]()
  })
  await once(child.stdout, 'data')
  return child
}
