import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { commandLine } from '../cli/command.ts'
import { startTestApp } from '../testkit/app.ts'
import { present } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { SECRET_KEY, startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { addEvent, type Job, runtimeToken, sh, startRuntime, untilOver, world } from './event-jobs.ts'
import { place } from './process-place.ts'

/** Artifacts from a job of a real runtime to another, to the command line, and through kills and restarts. */

const RETRIED = gql(`query RetriedEvent { objectByPath(project: "shop", kind: EVENT, path: ["event-2"]) { id } }`)

const leaves = (name: string, path = name, more: object = {}) => ({ artifacts: [{ name, path, ...more }] })

test('a job leaves a folder, another takes it, a person downloads it; a retry inherits it', async () => {
  const { server, state, secret } = await world()
  await using _runtime = startRuntime(server.url, secret, state)
  const id = await addEvent(server, [
    ['build', sh('mkdir -p out/deep; echo built > out/deep/app; echo ok > report', leaves('dist', 'out'))],
    [
      'test',
      sh('cat in/deep/app && exit 3', {
        takes: [{ artifact: 'dist', path: 'in' }],
        ...leaves('report', 'in/deep/app', { when: 'ALWAYS' }),
      }),
    ],
    ['missing', sh('true', { takes: [{ artifact: 'dist', from: 'test' }] })],
  ])
  const jobs = await untilOver(server, id)
  expect(jobs.get('build')).toMatchObject({ phase: 'SUCCEEDED' })
  // Its own end says more than that of its artifact.
  expect(jobs.get('test')).toMatchObject({ phase: 'FAILED', error: { code: 'EXIT_CODE' } })
  expect(jobs.get('test')?.artifacts.edges.map(({ node }) => node.name)).toEqual(['report'])
  expect(jobs.get('missing')).toMatchObject({
    phase: 'SCHEDULING_FAILED',
    error: { message: expect.stringMatching(/no artifact dist of the job test in its event/) },
  })

  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const listed = await phaseline('artifact list shop/event-1')
  expect(listed.out).toMatch(/dist\s+build\s+\d+ bytes/)
  expect((await phaseline('artifact get shop/event-1 report --output -')).out).toBe('built\n')
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-artifact-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'dist.tar.gz')
  expect(await phaseline(`artifact get shop/event-1 dist --output ${file}`)).toMatchObject({ code: 0 })
  expect((await readFile(file)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]))
  expect(await phaseline(`artifact get shop/event-1 dist --output ${file}`)).toMatchObject({ code: 2 })
  expect(await phaseline(`artifact get shop/event-1 none`)).toMatchObject({ code: 3 })

  expect(await phaseline(`event retry ${id}`)).toMatchObject({ code: 0 })
  const again = await untilOver(server, present((await server.client.query(RETRIED, {})).objectByPath).id)
  expect(again.get('build')?.artifacts.edges).toEqual(jobs.get('build')?.artifacts.edges)
  expect(again.get('test')).toMatchObject({ error: { code: 'EXIT_CODE' } })
})

test('a job fails without what it must leave, and says why; it succeeds without what is optional', async () => {
  const { server, state, secret } = await world({ PHASELINE_ARTIFACT_QUOTA_MIB: '1' })
  await using _runtime = startRuntime(server.url, secret, state)
  const id = await addEvent(server, [
    ['missing', sh('true', leaves('dist'))],
    ['optional', sh('true', leaves('dist', 'dist', { optional: true }))],
    ['link', sh('mkdir dist; ln -s /etc dist/etc', leaves('dist'))],
    ['large', sh('head -c 2000000 /dev/urandom > dist', leaves('dist'))],
  ])
  const jobs = await untilOver(server, id)
  const codes = ['missing', 'link', 'large'].map((name) => jobs.get(name)?.error?.code)
  expect(codes).toEqual(['ARTIFACT_MISSING', 'ARTIFACT_UNSAFE', 'ARTIFACT_QUOTA'])
  expect(jobs.get('optional')).toMatchObject({ phase: 'SUCCEEDED' })
})

test('a job finds the cache that an earlier one has left, by its key or a prefix; a cache that is missing fails nothing', async () => {
  const { server, state, secret } = await world()
  await using _runtime = startRuntime(server.url, secret, state)
  const installs = (key: string, more: object = {}) =>
    sh('cat .npm/of 2>/dev/null; mkdir -p .npm; echo $PHASELINE_WORKLOAD > .npm/of', {
      caches: [
        { key, restoreKeys: ['npm-'], path: '.npm' },
        { key: `none-${key}`, path: 'none' },
      ],
      ...more,
    })
  const id = await addEvent(server, [
    ['first', installs('npm-1')],
    ['same', installs('npm-1')],
    ['next', installs('npm-2')],
    ['again', installs('npm-2')],
  ])
  const jobs = await untilOver(server, id)
  expect([...jobs.values()].map(({ phase }) => phase)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'])
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const said = async (job: string) => (await phaseline(`event logs shop/event-1 --job ${job}`)).out
  const idOf = async (job: string) =>
    JSON.parse((await phaseline(`get shop/event-1/worker/${job} --kind job --json`)).out).id
  expect(await said('first')).toMatch(/The cache none-npm-1 is not kept: there is no "none"/)
  expect(await said('same')).toContain(await idOf('first'))
  expect(await said('next')).toContain(await idOf('first'))
  expect(await said('again')).toContain(await idOf('next'))
  expect((await phaseline('cache list shop')).out).toMatch(/npm-1\s+\d+ bytes[\s\S]*npm-2/)
  expect(await phaseline('cache delete shop npm-1')).toMatchObject({ code: 0 })
  expect(await phaseline('cache delete shop npm-1')).toMatchObject({ code: 3 })
})

/** Waits until an upload has begun, and is not complete. */
const untilUploads = (pool: Pool) =>
  until(async () => (await pool.query('select from artifact_chunk offset 3 limit 1')).rowCount, { what: 'it uploads' })
const LARGE = 60_000_000
const LEAVES_LARGE: readonly Job[] = [['build', sh(`head -c ${LARGE} /dev/urandom > dist`, leaves('dist'))]]

test('a runtime, or the server, that is killed while it uploads: the artifact is left all the same, once', async () => {
  await using database = await createTestDatabase(2)
  const { pool, url: DATABASE_URL } = database
  await using server = await startServer({
    env: { DATABASE_URL, PHASELINE_SECRET_KEY: SECRET_KEY, PHASELINE_ROLES: 'gateway,engine' },
  })
  const secret = await runtimeToken(server)
  await using at = await place()
  let runtime = startRuntime(server.url, secret, at.state)
  const id = await addEvent(server, LEAVES_LARGE)
  await untilUploads(pool)
  process.kill(present(runtime.pid), 'SIGKILL')
  await runtime.close()
  await until(async () => (await pool.query('select from artifact')).rowCount === 0, { what: 'nothing is left' })
  runtime = startRuntime(server.url, secret, at.state)
  await untilUploads(pool)
  await server.kill()
  await server.start()
  const jobs = await untilOver(server, id)
  await runtime.close()
  expect(jobs.get('build')).toMatchObject({ phase: 'SUCCEEDED' })
  const { rows } = await pool.query(
    'select size::integer, completed_at is not null as complete from artifact order by 2',
  )
  // The killed server has left the first pieces, which the sweep removes.
  expect(rows).toEqual([
    { size: 0, complete: false },
    { size: LARGE, complete: true },
  ])
  // Another gateway of the same database reads what the first has written.
  await using second = await startTestApp({
    env: { DATABASE_URL, PHASELINE_SECRET_KEY: SECRET_KEY, PHASELINE_ROLES: 'gateway' },
    token: server.token,
  })
  const artifact = present(jobs.get('build')?.artifacts.edges[0]).node
  const content = await second.client.readArtifact(artifact.id)
  let read = 0
  for await (const piece of content.body) read += piece.length
  expect(read).toBe(LARGE)
})
