import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parse } from 'yaml'
import { run } from '../../src/cli/run.ts'
import { type GadgetResult, type GadgetRun, runGadget } from '../../src/client/gadget/run-gadget.ts'
import { type MachinePostgres, majorOf, startMachinePostgres } from '../testkit/machine-postgres.ts'
import { freePort } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'
import { isAlive } from './gadget-folder.ts'

const BOX = join(import.meta.dirname, '../../examples/gadgets')
const TOUCH = join(import.meta.dirname, '../../examples/webshop/gadgets/touch-file')
const GROUP = join(BOX, 'group-replication')

type Call = Partial<Omit<GadgetRun, 'args' | 'path'>>

/** A folder of one test: the gadgets' state, and whatever they work on. */
async function place() {
  const path = await mkdtemp(join(tmpdir(), 'box-'))
  const env = { PATH: process.env.PATH ?? '', HOME: path, PHASELINE_STATE: join(path, 'state') }
  const gadgetPath = (name: string) =>
    isAbsolute(name) ? name : join(name.startsWith('gr-') ? join(GROUP, 'gadgets') : BOX, name)
  return {
    path,
    env,
    call: (name: string, args: readonly string[], given: Call = {}): Promise<GadgetResult> =>
      runGadget({ path: gadgetPath(name), args, mode: 'run', env, graceMs: 3_000, ...given }),
    /** The output of `phaseline gadget check`. */
    async check(name: string, ...args: readonly string[]) {
      let out = ''
      const write = (text: string): void => {
        out += text
      }
      const signal = new AbortController().signal
      const stdin = (async function* () {})()
      const argv = ['gadget', 'check', '--timeout', '120', gadgetPath(name), '--', ...args]
      const code = await run(argv, { stdout: { write }, stderr: { write }, stdin, env, signal })
      return {
        code,
        wrong: out.split('\n').filter((line, i, lines) => /^NOT/.test(line) || /^NOT/.test(lines[i - 1] ?? '')),
      }
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}
type Place = Awaited<ReturnType<typeof place>>
const FINE = { code: 0, wrong: [] }

async function tree(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true }).catch(() => [])
  return entries.sort()
}

/** A source of two folders, three files and a link. */
async function source(path: string): Promise<string> {
  const root = join(path, 'source')
  await mkdir(join(root, 'a/b'), { recursive: true })
  await writeFile(join(root, 'one'), 'x'.repeat(1024 * 1024))
  await writeFile(join(root, 'a/two'), 'two')
  await writeFile(join(root, 'a/b/three'), 'three', { mode: 0o755 })
  await symlink('../one', join(root, 'a/link'))
  return root
}

it('the gadget of the page of the protocol keeps it', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/gadget-protocol.md'), 'utf8')
  const [, text = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(page) ?? []
  await using at = await place()
  await writeFile(join(at.path, 'touch-file'), text, { mode: 0o755 })
  expect(await at.check(join(at.path, 'touch-file'), join(at.path, 'made'))).toEqual(FINE)
})

it('the gadget of the README keeps the protocol', async () => {
  const readme = await readFile(join(BOX, 'README.md'), 'utf8')
  const [, text = ''] = /^```js\n([\s\S]*?)^```$/m.exec(readme) ?? []
  await using at = await place()
  await symlink(join(BOX, 'lib'), join(at.path, 'lib'))
  await writeFile(join(at.path, 'mine.mjs'), text, { mode: 0o755 })
  expect(await at.check(join(at.path, 'mine.mjs'), 'web', 'version=2')).toEqual(FINE)
})

it('helpers for JavaScript tell which job it is', async () => {
  await using at = await place()
  await symlink(join(BOX, 'lib'), join(at.path, 'lib'))
  const text = `#!/usr/bin/env node
import { exportValue, gadget } from './lib/gadget.mjs'
await gadget({ run: ({ job }) => exportValue('job', job) })`
  await writeFile(join(at.path, 'mine.mjs'), text, { mode: 0o755 })
  const tell = (env: Record<string, string>) => at.call(join(at.path, 'mine.mjs'), [], { env: { ...at.env, ...env } })
  expect(await tell({ PHASELINE_JOB: 'job-1' })).toMatchObject({ exports: { job: 'job-1' } })
  expect(await tell({})).toMatchObject({ exports: { job: null } })
})

describe('copy-tree', () => {
  it('keeps the protocol', async () => {
    await using at = await place()
    expect(await at.check('copy-tree', await source(at.path), join(at.path, 'target'))).toEqual(FINE)
    expect(await tree(join(at.path, 'target'))).toEqual([])
  })

  it('copies with progress, and removes only its own files', async () => {
    await using at = await place()
    const [from, to] = [await source(at.path), join(at.path, 'target')]
    // There before: an entry of its own, and one that is the same.
    await mkdir(join(to, 'a'), { recursive: true })
    await writeFile(join(to, 'mine'), 'mine')
    await writeFile(join(to, 'a/two'), 'two')
    const mtime = new Date(1_700_000_000_000)
    for (const file of [join(from, 'a/two'), join(to, 'a/two')]) await utimes(file, mtime, mtime)
    const shown: unknown[] = []
    const done = await at.call('copy-tree', [from, to], { onProgress: (progress) => shown.push(progress) })
    expect(done).toMatchObject({ outcome: 'succeeded', exports: { files: 3, bytes: 1024 * 1024 + 8 } })
    expect(shown.at(-1)).toMatchObject({ step: `Copying ${from} to ${to}`, value: 1, total: 1, unit: 'MiB' })
    expect(await tree(to)).toEqual(['a', 'a/b', 'a/b/three', 'a/link', 'a/two', 'mine', 'one'])
    expect(await readFile(join(to, 'a/b/three'), 'utf8')).toBe('three')
    // Somebody changes one of the copies, and adds another file.
    await writeFile(join(to, 'one'), 'changed')
    await writeFile(join(to, 'a/b/new'), 'new')
    expect(await at.call('copy-tree', [from, to], { mode: 'undo' })).toMatchObject({ outcome: 'succeeded' })
    expect(await tree(to)).toEqual(['a', 'a/b', 'a/b/new', 'a/two', 'mine', 'one'])
  })

  it('overwrites nothing', async () => {
    await using at = await place()
    const [from, to] = [await source(at.path), join(at.path, 'target')]
    await mkdir(to)
    await writeFile(join(to, 'one'), 'mine')
    const refused = await at.call('copy-tree', [from, to])
    expect(refused).toMatchObject({ cause: 'error', message: expect.stringContaining('is there already') })
    expect(await tree(to)).toEqual(['one'])
    for (const bad of [['source', to], [from], [from, from], [from, join(from, 'a/c')], [to, at.path]]) {
      expect(await at.call('copy-tree', bad), bad.join(' ')).toMatchObject({ outcome: 'failed', cause: 'error' })
    }
  })

  it('is taken back, and done again, after it was killed at work', async () => {
    await using at = await place()
    const [from, to] = [await source(at.path), join(at.path, 'target')]
    for (let n = 0; n < 500; n++) await writeFile(join(from, `f${n}`), 'x'.repeat(10_000))
    // The last one takes seconds: a test that stands still for a moment kills in time.
    const last = join(from, 'last')
    await writeFile(last, '')
    await truncate(last, 2 * 1024 ** 3)
    const kill = new AbortController()
    const begun = until(async () => (await tree(to)).length > 5, { what: 'it copies' }).then(() => kill.abort())
    expect(await at.call('copy-tree', [from, to], { kill: kill.signal })).toEqual({ outcome: 'stopped' })
    await begun
    expect((await tree(to)).length).toBeGreaterThan(5)
    expect(await at.call('copy-tree', [from, to], { mode: 'undo' })).toMatchObject({ outcome: 'succeeded' })
    expect(await tree(at.path).then((all) => all.filter((name) => name.startsWith('target')))).toEqual([])
    await rm(last)
    expect(await at.call('copy-tree', [from, to])).toMatchObject({ outcome: 'succeeded' })
    expect(await tree(to)).toEqual(await tree(from))
  })
})

/** Services that answer at a port of their own, as soon as there is no file `slow`. */
const SERVICE = `const { existsSync } = require('node:fs')
const server = require('node:http').createServer((_, response) => response.end('ok'))
const start = () =>
  existsSync(__dirname + '/slow') ? setTimeout(start, 20) : server.listen(Number(process.argv[2]), '127.0.0.1')
start()`

async function services(at: Place, names: readonly string[]) {
  await mkdir(at.env.PHASELINE_STATE, { recursive: true })
  const script = join(at.path, 'service.cjs')
  await writeFile(script, SERVICE)
  const known: Record<string, unknown> = {}
  for (const name of names) {
    const port = await freePort()
    const command = [process.execPath, script, String(port), name]
    known[name] = { command, healthUrl: `http://127.0.0.1:${port}/`, startMs: 10_000, stopMs: 2_000 }
  }
  await writeFile(join(at.env.PHASELINE_STATE, 'services.json'), JSON.stringify(known))
  const pid = async (name: string) => {
    const text = await readFile(join(at.env.PHASELINE_STATE, 'services', `${name}.pid`), 'utf8').catch(() => '0')
    return Number(text)
  }
  return {
    pid,
    pids: () => Promise.all(names.map(pid)),
    async [Symbol.asyncDispose]() {
      for (const name of names) {
        const last = await pid(name)
        if (last > 1 && isAlive(last)) process.kill(last, 'SIGKILL')
      }
    },
  }
}

describe('rolling-restart', () => {
  it('keeps the protocol', async () => {
    await using at = await place()
    await using _services = await services(at, ['a'])
    expect(await at.check('rolling-restart', 'revision=1', 'a')).toEqual(FINE)
  })

  it('restarts servers of another revision, and no other process with the same pid', async () => {
    await using at = await place()
    await using running = await services(at, ['a', 'b'])
    const restart = (revision: number) => at.call('rolling-restart', [`revision=${revision}`])
    expect(await restart(1)).toMatchObject({ outcome: 'succeeded', exports: { services: ['a', 'b'] } })
    const first = await running.pids()
    await restart(1)
    expect(await running.pids()).toEqual(first)
    await restart(2)
    const second = await running.pids()
    expect(second.some((pid) => first.includes(pid))).toBe(false)
    expect(first.some(isAlive)).toBe(false)

    process.kill(second[0] ?? 0, 'SIGKILL')
    const stranger = spawn('sleep', ['1000'])
    try {
      await writeFile(join(at.env.PHASELINE_STATE, 'services/a.pid'), `${stranger.pid}\n`)
      expect(await restart(2)).toMatchObject({ outcome: 'succeeded' })
      expect(isAlive(stranger.pid ?? 0)).toBe(true)
      expect((await running.pids())[1]).toBe(second[1])
    } finally {
      stranger.kill('SIGKILL')
    }
    const unknown = await at.call('rolling-restart', ['revision=3', 'a', 'constructor'])
    expect(unknown).toMatchObject({ outcome: 'failed', message: expect.stringContaining('no service constructor') })
  })

  it('restarts the servers that it had stopped when it was killed', async () => {
    await using at = await place()
    await using running = await services(at, ['a'])
    await at.call('rolling-restart', ['revision=1'])
    const pid = await running.pid('a')
    await writeFile(join(at.path, 'slow'), '')
    const kill = new AbortController()
    const gone = until(() => !isAlive(pid), { what: 'it is stopped' }).then(() => kill.abort())
    expect(await at.call('rolling-restart', ['revision=2'], { kill: kill.signal })).toEqual({ outcome: 'stopped' })
    await gone
    await rm(join(at.path, 'slow'))
    expect(await at.call('rolling-restart', ['revision=2'], { mode: 'undo' })).toMatchObject({ outcome: 'succeeded' })
    expect(isAlive(await running.pid('a'))).toBe(true)
  })
})

interface PostgresAddress {
  readonly host: string
  readonly port: number
  readonly user: string
}

/** A server of Postgres as the tests of postgres-copy use it. */
function databasesOf({ host, port, user }: PostgresAddress) {
  const [source, target] = [`box_${process.pid}`, `box_${process.pid}_copy`]
  const holder = `holder_${process.pid}`
  const url = (name: string) => `postgresql://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`
  async function connect(database: string) {
    const client = new Client({ host, port, user, database })
    await client.connect()
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
  }
  async function query(database: string, ...texts: readonly string[]) {
    await using client = await connect(database)
    let rows: unknown[] = []
    for (const text of texts) rows = (await client.query(text)).rows
    return rows
  }
  return {
    source,
    target,
    args: [`source=${url(source)}`, `target=${url(target)}`],
    query,
    /** Databases that a copy has made, complete or not. */
    left: () => query('postgres', `select datname from pg_database where datname ~ '^copy_' or datname = '${target}'`),
    async fill() {
      await query('postgres', `create database ${source}`)
      // While this role exists, a restore stops at the first row.
      const held = `begin while exists (select from pg_roles where rolname = '${holder}') loop perform pg_sleep(0.01);
        end loop; return true; end`
      await query(
        source,
        `create function held() returns boolean language plpgsql as $$ ${held} $$`,
        'create table t (n int primary key check (public.held()))',
        'create table u (n int references t)',
        'insert into t select generate_series(1, 1000)',
        'insert into u select generate_series(1, 10)',
      )
    },
    /** Stops a copy in the middle of this step. */
    async holdUp(step: 'Dumping' | 'Restoring') {
      const isDump = step === 'Dumping'
      const client = await connect(isDump ? source : 'postgres')
      if (isDump) await client.query('begin')
      await client.query(isDump ? 'lock table t in access exclusive mode' : `create role ${holder}`)
      const busy = isDump
        ? `datname = '${source}' and wait_event_type = 'Lock'`
        : `datname ~ '^copy_' and query ~ '^COPY'`
      return {
        isReached: async () => (await query('postgres', `select from pg_stat_activity where ${busy}`)).length > 0,
        async [Symbol.asyncDispose]() {
          if (!isDump) await client.query(`drop role ${holder}`)
          await client.end()
        },
      }
    },
    async [Symbol.asyncDispose]() {
      for (const name of [source, target]) await query('postgres', `drop database if exists ${name} with (force)`)
    },
  }
}
type Databases = ReturnType<typeof databasesOf>

describe('postgres-copy', () => {
  /** pg_dump copies no server that is newer than itself: then one of its own version is started, if there is one. */
  let machine: MachinePostgres | null = null
  let canDumpOurs = false
  beforeAll(async () => {
    const { query } = databasesOf(inject('postgres'))
    const [found] = await query('postgres', `select current_setting('server_version_num')::int / 10000 as major`)
    canDumpOurs = majorOf('pg_dump') >= (found as { major: number }).major
    if (!canDumpOurs) machine = await startMachinePostgres()
  })
  afterAll(() => machine?.[Symbol.asyncDispose]())

  async function databases(address: PostgresAddress = machine ?? inject('postgres')) {
    const names = databasesOf(address)
    await names.fill()
    return names
  }
  const canCopy = () => canDumpOurs || machine !== null
  const dumps = (at: Place) => tree(join(at.env.PHASELINE_STATE, 'postgres-copy'))

  /** If this machine's programs cannot copy the server, the gadget says so and leaves nothing. */
  async function expectRefusal(at: Place, { args, left }: Databases) {
    const refused = await at.call('postgres-copy', args)
    expect(refused).toMatchObject({ outcome: 'failed', cause: 'error' })
    expect(JSON.stringify(refused)).toMatch(/not installed|version/)
    expect(await at.call('postgres-copy', args, { mode: 'undo' })).toMatchObject({ outcome: 'succeeded' })
    expect(await left()).toEqual([])
  }

  it('keeps the protocol', async () => {
    await using at = await place()
    await using names = await databases()
    if (!canCopy()) return await expectRefusal(at, names)
    expect(await at.check('postgres-copy', ...names.args)).toEqual(FINE)
    expect(await names.left()).toEqual([])
  })

  it('locks both, and says so where a server is newer than this machine’s pg_dump', async () => {
    await using at = await place()
    await using names = await databases(inject('postgres'))
    const declared = await at.call('postgres-copy', names.args, { mode: 'getlocks' })
    const { host, port } = inject('postgres')
    const resource = (name: string) => `postgres:${host}:${port}/${name}`
    expect(declared).toMatchObject({
      locks: [
        { resource: resource(names.source), mode: 'SHARED' },
        { resource: resource(names.target), mode: 'EXCLUSIVE' },
      ],
    })
    if (!canDumpOurs) return await expectRefusal(at, names)
    expect(await at.call('postgres-copy', names.args)).toMatchObject({ outcome: 'succeeded' })
  })

  it('copies, and drops only its own databases', async () => {
    await using at = await place()
    await using names = await databases()
    if (!canCopy()) return await expectRefusal(at, names)
    const { args, query, source, target, left } = names
    const shown: unknown[] = []
    expect(await at.call('postgres-copy', args, { onProgress: (it) => shown.push(it) })).toMatchObject({
      outcome: 'succeeded',
    })
    expect(shown).toContainEqual({ step: expect.stringMatching(/^Restoring/), value: 2, total: 2, unit: 'tables' })
    expect(await left()).toEqual([{ datname: target }])
    const sums = 'select count(*)::int as n, sum(t.n)::int as of_t, sum(u.n)::int as of_u from t left join u using (n)'
    expect(await query(target, sums)).toEqual([{ n: 1000, of_t: 500_500, of_u: 55 }])
    expect(await query(source, sums)).toEqual(await query(target, sums))
    await expect(query(target, 'insert into u values (1001)')).rejects.toThrow('foreign key')
    // A second run finds it done: what has happened to the copy since stays.
    await query(target, 'delete from u')
    expect(await at.call('postgres-copy', args)).toMatchObject({ outcome: 'succeeded' })
    expect(await query(target, 'select * from u')).toEqual([])
    await at.call('postgres-copy', args, { mode: 'undo' })
    expect(await left()).toEqual([])
    expect(await dumps(at)).toEqual([])

    await query('postgres', `create database ${target}`)
    expect(await at.call('postgres-copy', args)).toMatchObject({ message: expect.stringContaining('is there already') })
    expect(await at.call('postgres-copy', args, { mode: 'undo' })).toMatchObject({ outcome: 'succeeded' })
    expect(await left()).toHaveLength(1)
  })

  it.each(['Dumping', 'Restoring'] as const)(
    'is taken back, and done again, after it was killed at work: %s',
    async (step) => {
      await using at = await place()
      await using names = await databases()
      if (!canCopy()) return await expectRefusal(at, names)
      const { args, query, target, left } = names
      const kill = new AbortController()
      {
        await using heldUp = await names.holdUp(step)
        const killed = until(heldUp.isReached, { what: `it is at ${step}` }).then(() => kill.abort())
        expect(await at.call('postgres-copy', args, { kill: kill.signal })).toEqual({ outcome: 'stopped' })
        await killed
        // Made under another name: nobody can take half a copy for a whole one.
        const drafts = step === 'Dumping' ? [] : [{ datname: expect.stringMatching(/^copy_/) }]
        expect(await left()).toEqual(drafts)
        expect(await at.call('postgres-copy', args, { mode: 'undo' })).toMatchObject({ outcome: 'succeeded' })
      }
      expect(await left()).toEqual([])
      expect(await dumps(at)).toEqual([])
      expect(await at.call('postgres-copy', args)).toMatchObject({ outcome: 'succeeded' })
      expect(await query(target, 'select count(*)::int as n from t')).toEqual([{ n: 1000 }])
    },
  )

  it('says so when Postgres’s programs are missing, and takes no password in its arguments', async () => {
    await using at = await place()
    const args = ['source=postgresql://u@h/a', 'target=postgresql://u@h/b']
    await symlink(process.execPath, join(at.path, 'node'))
    const env = { ...at.env, PATH: at.path }
    const missing = await at.call('postgres-copy', args, { env })
    expect(missing).toMatchObject({ cause: 'error', message: 'psql is not installed on this machine.' })
    const secret = await at.call('postgres-copy', ['source=postgresql://u:hush@h/a', 'target=postgresql://u@h/b'])
    expect(JSON.stringify(secret)).toContain('No password in source')
    expect(JSON.stringify(secret)).not.toContain('hush')
  })
})

interface Job {
  readonly name: string
  readonly gadget: string
  readonly args: readonly string[]
  readonly when?: string
}

describe('the servers of the group', () => {
  async function group() {
    const at = await place()
    const command = (...args: readonly string[]) =>
      new Promise<string>((resolve, reject) => {
        let out = ''
        const child = spawn(process.execPath, [join(GROUP, 'group.mjs'), ...args], { env: at.env })
        child.stdout.on('data', (chunk: Buffer) => {
          out += chunk.toString()
        })
        child.once('error', reject).once('close', () => resolve(out))
      })
    return {
      ...at,
      command,
      async [Symbol.asyncDispose]() {
        await command('stop')
        await at[Symbol.asyncDispose]()
      },
    }
  }

  /** The sequence of task.yaml for a server; the conditions read the same in JavaScript. */
  async function addServer(at: Place, server: string): Promise<string[]> {
    const { jobs } = parse(await readFile(join(GROUP, 'task.yaml'), 'utf8')) as { jobs: Job[] }
    const done: Record<string, unknown> = {}
    for (const { name, gadget, args, when } of jobs) {
      const condition = when?.replace(/^\$\{(.*)\}$/, '$1') ?? 'true'
      if (!new Function('jobs', `return ${condition}`)(done)) continue
      const result = await at.call(
        gadget,
        args.map((arg) => (arg === 'db1' ? server : arg)),
      )
      expect(result, name).toMatchObject({ outcome: 'succeeded' })
      done[name] = result
    }
    return Object.keys(done)
  }

  it('get a member by the task of figure 1, on whichever branch', async () => {
    await using at = await group()
    await at.command('new', 'db1', 'binary-log')
    await at.command('new', 'db2')
    const shared = ['stop', 'configure', 'start', 'variables']
    const branch = ['facts', 'stopForUser', 'binaryLogOff', 'startForUser', 'createUser', 'grant']
    expect(await addServer(at, 'db1')).toEqual([...branch, ...shared, 'bootstrapOn', 'join', 'online', 'bootstrapOff'])
    expect(await addServer(at, 'db2')).toEqual(['facts', 'createUser', 'grant', ...shared, 'join', 'online'])
    const status = await at.command('status')
    expect(status).toBe('db1: ONLINE, users: replicator\ndb2: ONLINE, users: replicator\n')
    // A user that is there: the first half is left out.
    expect(await addServer(at, 'db2')).toEqual(['facts', ...shared, 'join', 'online'])
  })

  it.each([
    ['gr-facts', 'db1', 'user=r'],
    ['gr-stop', 'db1'],
    ['gr-start', 'db1'],
    ['gr-configure', 'db1', 'log-bin=on', 'gtid-mode=on'],
    ['gr-user', 'db1', 'create', 'user=r'],
  ])('have gadgets that keep the protocol: %s', async (gadget, ...args) => {
    await using at = await group()
    await at.command('new', 'db1')
    expect(await at.check(gadget, ...args)).toEqual(FINE)
  })

  it('have gadgets of replication that keep the protocol', async () => {
    await using at = await group()
    await at.command('new', 'db1')
    await addServer(at, 'db1')
    expect(await at.check('gr-wait', 'db1')).toEqual(FINE)
    expect(await at.check('gr-user', 'db1', 'grant', 'user=replicator')).toEqual(FINE)
    expect(await at.check('gr-set', 'db1', 'x=1')).toEqual(FINE)
    await at.command('new', 'db2')
    await addServer(at, 'db2')
    // Member or not, it is as before afterwards.
    expect(await at.check('gr-join', 'db2')).toEqual(FINE)
  })
})

describe('the helpers', () => {
  it('for the shell keep the protocol', async () => {
    await using at = await place()
    expect(await at.check(TOUCH, join(at.path, 'a "file" with \\ in it'))).toEqual(FINE)
    const made = await at.call(TOUCH, [join(at.path, 'a "file"')])
    expect(made).toMatchObject({ exports: { file: join(at.path, 'a "file"') } })
    await writeFile(join(at.path, 'a "file"'), 'kept')
    await at.call(TOUCH, [join(at.path, 'a "file"')], { mode: 'undo' })
    expect(await readFile(join(at.path, 'a "file"'), 'utf8')).toBe('kept')
  })
})
