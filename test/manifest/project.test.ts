import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, constantFrom, integer, property } from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { parseDuration, writeDuration } from '../../src/core/parse-duration.ts'
import { type ProjectSpec, parseManifests, wantedProject, writeProject } from '../../src/manifest/index.ts'

const SPEC: ProjectSpec = {
  workerTemplate: {
    ...{ runtime: 'played', image: 'node:24', command: ['node', 'run.mjs'], args: ['--all'], env: { A: '1', B: 'no' } },
    ...{
      files: [
        { path: 'run.mjs', content: 'go()\nstop()\n', secret: null },
        { path: '.npmrc', content: '', secret: 'NPMRC' },
      ],
      timeoutMs: 5_400_000,
      retry: {
        ...{ attempts: 3, backoff: { initialMs: 5_000, factor: 2, maxMs: 60_000, jitter: 0.5 } },
        ...{ on: [], not: ['NO_DISK'], attemptTimeoutMs: 600_000 },
      },
      workspace: true,
      targetLabels: { zone: 'eu' },
      limits: [
        { limit: 'licences', key: '', priority: 0 },
        { limit: 'hosts', key: 'web-1', priority: 0 },
      ],
      gate: { message: 'Build it?', approval: { count: 2, role: 'ADMIN' }, timeout: '2h' },
      services: [
        {
          ...{ name: 'db', image: 'postgres:17', command: [], args: ['-c', 'fsync=off'], env: { POSTGRES_DB: 'app' } },
          ...{ secrets: ['POSTGRES_PASSWORD'], ports: [5432, 5433], user: 999 },
          readiness: { port: null, command: ['pg_isready'], timeoutMs: 30_000 },
        },
        {
          ...{ name: 'cache', image: 'redis:7', command: [], args: [], env: {} },
          ...{ secrets: [], ports: [6379], user: null },
          readiness: { port: 6379, command: [], timeoutMs: 60_000 },
        },
      ],
      caches: [
        { key: 'npm-1', restoreKeys: ['npm-'], path: '.npm' },
        { key: 'all', restoreKeys: [], path: 'all' },
      ],
      artifacts: [
        { name: 'dist.tar', path: 'out/dist', when: 'SUCCESS', optional: false },
        { name: 'report', path: 'report.html', when: 'ALWAYS', optional: true },
      ],
      clone: { url: 'https://git.example.com/app.git', ref: 'main', depth: 0, path: null, secret: 'GIT' },
    },
  },
  subscriptions: [
    { source: 'acme', types: ['push'], qualifiers: { branch: 'main' }, labels: { z: 'true' }, task: null },
    {
      ...{ source: 'cron', types: ['*'], qualifiers: {}, labels: {} },
      task: [
        { name: 'a', gadget: 'touch', args: ['/x'], env: { GADGET_A: '1' }, when: null, dependsOn: null },
        { name: 'b', gadget: 'touch', args: [], env: {}, when: 'true', dependsOn: [] },
      ],
    },
  ],
  limits: { maxWorkers: 0, maxJobs: null, strategy: 'LATEST_ONLY' },
  promotesTo: 'production',
}
const EMPTY: ProjectSpec = {
  workerTemplate: null,
  subscriptions: [],
  limits: { maxWorkers: null, maxJobs: null, strategy: 'QUEUE' },
  promotesTo: null,
}

function readBack(text: string): unknown {
  const parsed = parseManifests(text)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  const [manifest] = parsed.projects
  if (!manifest) throw new Error('there is no project')
  return wantedProject(
    manifest,
    (manifest.workerTemplate?.files ?? []).map(({ content = '' }) => content),
  )
}

describe('a project that is written', () => {
  it('is read as what it was', () => {
    const { limits, ...rest } = SPEC
    // Limits that are left out stay as they are: those that are none are not written.
    expect(readBack(writeProject('p', SPEC))).toEqual({ ...rest, limits: { maxWorkers: 0, strategy: limits.strategy } })
    expect(readBack(writeProject('p', EMPTY))).toEqual(EMPTY)
  })

  it('has all its parts, and of them what is not as by default', () => {
    expect(writeProject('p', EMPTY)).toBe(
      'kind: Project\nname: p\nworkerTemplate: null\nsubscriptions: []\npromotesTo: null\nlimits: null\n',
    )
    expect(writeProject('p', { ...EMPTY, limits: { ...EMPTY.limits, maxJobs: 3 } })).toContain(
      'limits:\n  maxJobs: 3\n',
    )
  })
})

test('durations are written as they are read', () => {
  const durations = property(integer({ min: 1, max: 2 ** 40 }), constantFrom(1, 1_000, 60_000), (count, unit) => {
    expect(parseDuration(writeDuration(count * unit))).toBe(count * unit)
  })
  void assert(durations)
  expect(writeDuration(5_400_000)).toBe('1h30m')
})

test('the examples of projects are projects', () => {
  const folder = join(import.meta.dirname, '../../examples/manifests')
  const files = readdirSync(folder).filter((file) => file.endsWith('-project.yaml'))
  expect(files.length).toBeGreaterThan(1)
  for (const file of files) expect(() => readBack(readFileSync(join(folder, file), 'utf8'))).not.toThrow()
})
