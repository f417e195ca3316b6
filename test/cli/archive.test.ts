import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { expect, onTestFinished, test } from 'vitest'
import { ARCHIVE_LOCK } from '../../src/cli/archive/archive.ts'
import { entryOf } from '../../src/cli/archive/folder.ts'
import { logStream } from '../../src/cli/archive/streams.ts'
import { numberBatches } from '../../src/log/number-batches.ts'
import { pruneStep } from '../../src/log/prune.ts'
import { lockFolder } from '../../src/process/folder-lock.ts'
import { change, createRoot, write } from '../log/writer.ts'
import { startTestApp } from '../testkit/app.ts'
import { copyDatabase, createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { seeded } from '../testkit/seed.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { soak } from '../testkit/soak.ts'
import { commandLine, documents } from './command.ts'

/** `phaseline archive`: files that are whole, with each line once, and what the server lost on record. */

async function database(made: Promise<TestDatabase> = createTestDatabase()): Promise<TestDatabase> {
  const db = await made
  onTestFinished(() => db[Symbol.asyncDispose]())
  return db
}
async function serve(db?: TestDatabase) {
  const server = await startTestApp(db ? { env: { DATABASE_URL: db.url, PHASELINE_ROLES: 'gateway' } } : {})
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { server, phaseline: commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token }) }
}
async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-archive-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

const DAY_MS = 24 * 60 * 60 * 1_000
const START = Date.UTC(2026, 10, 1)
/** So many days of `n` changes, in one transaction each. */
async function grow({ pool }: TestDatabase, rootId: string, fromDay: number, days: number, n: number): Promise<void> {
  for (let day = fromDay; day < fromDay + days; day++) {
    const at = (i: number) => new Date(START + day * DAY_MS + i * 1_000)
    const message = `ü and ${day}`
    const changes = Array.from({ length: n }, (_, i) => change(rootId, { at: at(i), message, rejected: i % 7 === 3 }))
    await write(pool, rootId, changes)
  }
  while ((await numberBatches(pool)) !== null);
}

/** As a reader without the command line has it. */
async function logOf({ origin, token }: ReachableServer, after = ''): Promise<string> {
  const parts: string[] = []
  for (let path = `/log?includeRejected=true&limit=1000${after}`; ; ) {
    const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } })
    const text = await response.text()
    if (text === '') return parts.join('')
    parts.push(text)
    path = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1] ?? ''
  }
}
const filesOf = async (folder: string) => (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted()
async function archived(folder: string): Promise<string> {
  const names = (await filesOf(folder)).filter((name) => name.endsWith('.ndjson'))
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('')
}

test('each run writes what has come: lines of GET /log byte for byte, of the audit and of the runs', async () => {
  const { server, phaseline } = await serve()
  const folder = await newFolder()
  const archive = () => phaseline(`archive ${folder} --streams log,audit,runs --json`)
  const apply = async (fail: boolean) => {
    const deployItems = [{ name: 'db', type: 'mock', config: { fail } }]
    await phaseline('apply -f - --wait', { stdin: JSON.stringify({ name: 'shop', spec: { deployItems } }) })
  }
  await apply(false)
  expect(await archive()).toMatchObject({ code: 0 })
  await apply(true)
  const [log, audit, runs] = documents((await archive()).out)
  expect(log).toMatchObject({ stream: 'log', gaps: [], files: [expect.stringMatching(/^001-\d{12}-\d{12}-\d{4}-/)] })
  expect([audit?.lines, runs?.lines]).toEqual([expect.any(Number), 1])

  expect(await archived(join(folder, 'log'))).toBe(await logOf(server))
  const events = (await phaseline('audit export')).out
  expect(await archived(join(folder, 'audit'))).toBe(events.slice(0, (await archived(join(folder, 'audit'))).length))
  const entries = (await filesOf(join(folder, 'log'))).map((name) => entryOf(name))
  expect(entries.map((entry) => entry?.first)).toEqual([1, (entries[0]?.last ?? 0) + 1])
  expect(documents(await archived(join(folder, 'runs')))).toMatchObject([
    { name: 'shop', number: 1, phase: 'SUCCEEDED', cause: 'CREATED', errorCode: null, durationMs: expect.any(Number) },
    { name: 'shop', number: 2, phase: 'FAILED', cause: 'CHANGED', errorCode: 'CHILDREN_FAILED' },
  ])

  // The server keeps no run of a deleted installation.
  await phaseline('delete shop --wait --yes')
  await archive()
  expect(documents(await archived(join(folder, 'runs'))).at(-1)).toMatchObject({ phase: 'GONE', number: null })
  expect(documents((await archive()).out).map(({ lines }) => lines)).toEqual([0, 0, 0])
  expect(await archived(join(folder, 'log'))).toBe(await logOf(server))

  expect((await phaseline(`archive ${folder} --streams log,rocket`)).err).toContain('no stream rocket. There are: log')
  expect(await phaseline(`archive ${folder} --parquet`)).toMatchObject({
    code: 2,
    err: expect.stringContaining('has files of ndjson'),
  })
})

test('files of Parquet have typed columns, read by another library, and the next run continues after them', async () => {
  const { server, phaseline } = await serve()
  const folder = await newFolder()
  const apply = (name: string) =>
    phaseline('apply -f - --wait', { stdin: JSON.stringify({ name, spec: { deployItems: [] } }) })
  const archive = () => phaseline(`archive ${folder} --parquet --streams log,audit,runs`)
  for (const name of ['alpha', 'bravo']) {
    await apply(name)
    expect(await archive()).toMatchObject({ code: 0, err: '' })
  }
  const read = async (stream: string) => {
    const names = await filesOf(join(folder, stream))
    const files = await Promise.all(names.map((name) => asyncBufferFromFile(join(folder, stream, name))))
    return { files, rows: (await Promise.all(files.map((file) => parquetReadObjects({ file })))).flat() }
  }
  const { files, rows } = await read('log')
  expect(files).toHaveLength(2)
  const lines = documents(await logOf(server))
  expect(rows).toEqual(
    lines.map((line) => ({ ...line, sequence: BigInt(Number(line.sequence)), at: new Date(String(line.at)) })),
  )
  // A field of a line without a column would be left out of the files.
  expect(Object.keys(lines[0] ?? {})).toEqual(Object.keys(logStream.columns))
  const metadata = await parquetMetadataAsync(files[0] as (typeof files)[number])
  const columns = new Map(metadata.schema.map(({ name, ...column }) => [name, column]))
  expect(columns.get('at')).toMatchObject({ type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' })
  expect(columns.get('sequence')).toMatchObject({ type: 'INT64' })
  const chunks = metadata.row_groups.flatMap((group) => group.columns.map(({ meta_data }) => meta_data))
  const kind = chunks.find((chunk) => chunk?.path_in_schema.join('.') === 'kind')
  expect(kind?.encodings).toContain('RLE_DICTIONARY')
  expect((await read('runs')).rows).toMatchObject([
    { name: 'alpha', number: 1, startedAt: expect.any(Date) },
    { name: 'bravo', number: 1, phase: 'SUCCEEDED' },
  ])
  expect((await read('audit')).rows.length).toBeGreaterThan(1)
})

test('what was pruned before a run stands in the folder, and so does a restore', async () => {
  const db = await database()
  const root = await createRoot(db.pool)
  await grow(db, root, 0, 2, 10)
  const prune = async (day: number) => {
    const before = new Date(START + day * DAY_MS)
    while ((await pruneStep(db.pool, { before, secondaryMachines: [] })) !== 'done');
  }
  await prune(1)
  const first = await serve(db)
  const folder = await newFolder()
  const archive = `archive ${folder}`
  const log = join(folder, 'log')
  const pruned = await first.phaseline(archive)
  expect(pruned).toMatchObject({ code: 0, err: expect.stringContaining('does not keep 1 to 10 of its log any more') })
  await grow(db, root, 2, 2, 10)
  await prune(3)
  await first.phaseline(archive)
  expect(await filesOf(log)).toEqual([
    '001-000000000010-pruned.json',
    '001-000000000011-000000000020-2026-11-02.ndjson',
    '001-000000000030-pruned.json',
    '001-000000000031-000000000040-2026-11-04.ndjson',
  ])
  const gap = JSON.parse(await readFile(join(log, '001-000000000030-pruned.json'), 'utf8')) as object
  expect(gap).toMatchObject({ why: 'PRUNED', history: 1, after: { history: 1, sequence: 20 }, next: 31 })

  // The copy goes back to 40, and gives 41 to 50 to other changes.
  const copy = await database(copyDatabase(db))
  await grow(db, root, 4, 1, 10)
  await first.phaseline(archive)
  await first.server[Symbol.asyncDispose]()
  const second = await serve(copy)
  await grow(copy, root, 5, 1, 5)
  const restored = await second.phaseline(archive)
  expect(restored).toMatchObject({ code: 0, err: expect.stringContaining('continues after 40 of history 1') })
  expect((await filesOf(log)).slice(4)).toEqual([
    '001-000000000041-000000000050-2026-11-05.ndjson',
    '002-000000000040-restored.json',
    '002-000000000041-000000000045-2026-11-06.ndjson',
  ])
  expect(await second.phaseline(archive)).toMatchObject({ code: 0, out: 'log: nothing new\n' })

  // Another server is no restored one.
  const other = await database()
  await grow(other, await createRoot(other.pool), 0, 1, 45)
  const third = await serve(other)
  expect(await third.phaseline(archive)).toMatchObject({ code: 3, err: expect.stringContaining('of another server') })
  // Nor is a folder that lacks a file continued.
  await rm(join(log, '001-000000000031-000000000040-2026-11-04.ndjson'))
  expect(await second.phaseline(archive)).toMatchObject({ code: 3, err: expect.stringContaining('a file is missing') })
})

test('events of the audit that retention has removed stand in the folder, and so does a restored audit', async () => {
  const db = await database()
  const first = await serve(db)
  for (const name of ['a', 'b', 'c']) await first.phaseline(`project create ${name}`)
  // A reader has all events chained.
  await first.phaseline('audit export')
  const copy = await database(copyDatabase(db))
  await db.pool.query(`begin;
    update audit_anchor set (sequence, hash) = (select sequence, hash from audit_event where sequence = 2);
    delete from audit_event where sequence <= 2; commit`)
  const folder = await newFolder()
  const audit = join(folder, 'audit')
  const archive = `archive ${folder} --streams audit`
  expect((await first.phaseline(archive)).err).toContain('does not keep 1 to 2 of its audit any more')
  const exported = (await first.phaseline('audit export')).out
  await first.phaseline('project create lost')
  await first.phaseline(archive)
  expect(exported.startsWith(await readFile(join(audit, (await filesOf(audit))[1] ?? ''), 'utf8'))).toBe(true)
  await first.server[Symbol.asyncDispose]()

  const second = await serve(copy)
  await second.phaseline('project create d')
  expect((await second.phaseline(archive)).err).toContain('its audit continues after')
  const names = await filesOf(audit)
  expect(names[0]).toBe('001-000000000002-pruned.json')
  expect(names.find((name) => name.endsWith('restored.json'))).toMatch(/^002-/)
  const present = names.filter((name) => /^002.*ndjson$/.test(name))
  const lines = documents((await Promise.all(present.map((name) => readFile(join(audit, name), 'utf8')))).join(''))
  expect(lines.at(-1)).toMatchObject({ operation: 'createProject', objectName: 'd' })
})

test('a restore to a time before the first run is a history of its own from the first line on', async () => {
  const db = await database()
  const root = await createRoot(db.pool)
  await grow(db, root, 0, 1, 5)
  const copy = await database(copyDatabase(db))
  await grow(db, root, 0, 1, 5)
  const folder = await newFolder()
  await (await serve(db)).phaseline(`archive ${folder}`)
  const { server, phaseline } = await serve(copy)
  await grow(copy, root, 2, 1, 1)
  expect(await phaseline(`archive ${folder}`)).toMatchObject({ code: 0 })
  const names = await filesOf(join(folder, 'log'))
  expect(names.filter((name) => name.startsWith('002'))).toEqual([
    '002-000000000000-restored.json',
    '002-000000000001-000000000005-2026-11-01.ndjson',
    '002-000000000006-000000000006-2026-11-03.ndjson',
  ])
  const present = await Promise.all(
    names.filter((name) => /^002.*ndjson$/.test(name)).map((name) => readFile(join(folder, 'log', name), 'utf8')),
  )
  expect(present.join('')).toBe(await logOf(server))
})

test('few lines behind which the log was pruned are no gap', async () => {
  const db = await database()
  const root = await createRoot(db.pool)
  await grow(db, root, 0, 2, 10)
  const { phaseline } = await serve(db)
  const folder = await newFolder()
  const archive = async () => documents((await phaseline(`archive ${folder} --streams runs --json`)).out)
  expect(await archive()).toMatchObject([{ lines: 0, gaps: [] }])
  while ((await pruneStep(db.pool, { before: new Date(START + DAY_MS), secondaryMachines: [] })) !== 'done');
  expect(await archive()).toMatchObject([{ lines: 0, gaps: [] }])
})

const KILLS = soak(6, 20)
test('runs that are killed lose no line and repeat none', async () => {
  const db = await database()
  const root = await createRoot(db.pool)
  const { server, phaseline } = await serve(db)
  const folder = await newFolder()
  const log = join(folder, 'log')
  await mkdir(log)
  const random = seeded()
  let killed = 0
  for (let run = 0; run < KILLS; run++) {
    await grow(db, root, run * 40, 40, 5)
    const wanted = readdirSync(log).length + 1 + Math.floor(random() * 30)
    const running = phaseline.spawn(`archive ${folder}`)
    let isEnded = false
    const ended = running.exit.then((code) => {
      isEnded = true
      if (code === null) killed += 1
    })
    // Each file takes less than a millisecond, so nothing slower would find it between two.
    while (!isEnded && readdirSync(log).length < wanted) await setImmediate()
    running.kill('SIGKILL')
    await ended
    expect((await logOf(server)).startsWith(await archived(log))).toBe(true)
  }
  expect(killed).toBeGreaterThan(KILLS / 2)
  // A file that a killed run has begun is no part of the archive.
  await writeFile(join(log, '.part-001-000000000001-000000099999-2026-11-01.ndjson'), 'half a li')
  expect(await phaseline(`archive ${folder}`)).toMatchObject({ code: 0 })
  expect(await archived(log)).toBe(await logOf(server))
  expect((await readdir(log)).filter((name) => name.startsWith('.part'))).toEqual([])
})

test('of two runs at once one is refused', async () => {
  const { phaseline } = await serve()
  const folder = await newFolder()
  await mkdir(join(folder, 'log'))
  // As another run holds it.
  const held = await lockFolder({ folder: join(folder, 'log'), prefix: ARCHIVE_LOCK, inUse: String })
  const message = expect.stringContaining(`The process ${process.pid} writes to ${folder}/log.`)
  expect(await phaseline(`archive ${folder}`)).toMatchObject({ code: 3, err: message })
  await held[Symbol.asyncDispose]()
  expect(await phaseline(`archive ${folder}`)).toMatchObject({ code: 0 })
})

test('a file that was damaged is named, nothing is written, and a hint that was is left out', async () => {
  const db = await database()
  await grow(db, await createRoot(db.pool), 0, 1, 20)
  const { phaseline } = await serve(db)
  const folder = await newFolder()
  const log = join(folder, 'log')
  expect(await phaseline(`archive ${folder}`)).toMatchObject({ code: 0 })
  await writeFile(join(log, '.position.json'), '[{')
  expect(await phaseline(`archive ${folder}`)).toMatchObject({ code: 0 })
  const [name = ''] = await filesOf(log)
  await rm(join(log, '.position.json'))
  for (const damaged of ['', 'null\n', '{"sequence":1}\n', `${await readFile(join(log, name), 'utf8')}{"cur`]) {
    await writeFile(join(log, name), damaged)
    const refused = await phaseline(`archive ${folder}`)
    expect([damaged, refused]).toMatchObject([damaged, { code: 3, err: expect.stringContaining(`${name} is damaged`) }])
  }
  expect(await filesOf(log)).toEqual([name])
})
