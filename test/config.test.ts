import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { loadConfig } from '../src/config.ts'
import { createLogger } from '../src/logger.ts'

const KEY = Buffer.alloc(32, 255)
const OLD_KEY = Buffer.alloc(32, 7)

test('commands of users run here by themselves only where the database is embedded', () => {
  const runs = (env: Record<string, string>) => {
    const loaded = loadConfig(env)
    return loaded.ok && loaded.config.processRuntime
  }
  const DATABASE_URL = 'postgres://db/x'
  expect(runs({})).toBe(true)
  expect(runs({ PHASELINE_PROCESS_RUNTIME: 'off' })).toBe(false)
  expect(runs({ DATABASE_URL })).toBe(false)
  expect(runs({ DATABASE_URL, PHASELINE_PROCESS_RUNTIME: 'on' })).toBe(true)
})

test.each(['hunter2', `${KEY.toString('base64')},`, Buffer.alloc(31, 1).toString('base64'), 'a'.repeat(44)])(
  'no secret key: %s',
  (text) => {
    expect(loadConfig({ PHASELINE_SECRET_KEY: text })).toEqual({
      ok: false,
      problems: ['PHASELINE_SECRET_KEY: must be 32 bytes in base64; several with commas between them'],
    })
  },
)

test('nothing has to be set, and what is empty is not set', () => {
  const loaded = loadConfig({ PORT: '', DATABASE_URL: ' ', HOME: '/somewhere' })
  expect(loaded).toEqual({
    ok: true,
    config: {
      port: 4000,
      host: '127.0.0.1',
      dataDir: '.phaseline',
      databaseUrl: undefined,
      redisUrl: undefined,
      roles: new Set(['gateway', 'engine', 'agents']),
      token: undefined,
      logLevel: 'info',
      allowedHosts: [],
      allowedOrigins: [],
      gadgetFolders: [],
      timeouts: {
        pickupMs: 300_000,
        progressingMs: 600_000,
        abortingMs: 300_000,
        runtimeLostMs: 300_000,
        cleanupMs: 60_000,
        crmSilenceMs: 300_000,
      },
      logRetentionMs: 30 * 24 * 60 * 60 * 1_000,
      secretKeys: [],
      capacity: { maxWorkers: 50, maxJobs: 100 },
      processRuntime: true,
    },
  })
})

test('everything that can be set', () => {
  const loaded = loadConfig({
    PORT: '0',
    HOST: '::1',
    PHASELINE_DATA: '/data',
    DATABASE_URL: 'postgresql://ada@localhost/db?host=%2Frun%2Fpg',
    REDIS_URL: 'rediss://cache:6380',
    PHASELINE_ROLES: 'engine, gateway',
    PHASELINE_TOKEN: 'sixteen-letters!',
    PHASELINE_LOG_LEVEL: 'debug',
    PHASELINE_ALLOWED_HOSTS: 'a.example, b.example:8443,',
    PHASELINE_ALLOWED_ORIGINS: 'https://a.example',
    PHASELINE_GADGETS: '/gadgets:/more/gadgets',
    PHASELINE_PICKUP_TIMEOUT_MS: '1',
    PHASELINE_PROGRESSING_TIMEOUT_MS: '2',
    PHASELINE_ABORTING_TIMEOUT_MS: '2147483647',
    PHASELINE_LOG_RETENTION: '12h',
    PHASELINE_SECRET_KEY: `${KEY.toString('base64')}, ${OLD_KEY.toString('base64')}`,
    PHASELINE_MAX_WORKERS: '3',
    PHASELINE_MAX_JOBS: '4',
    PHASELINE_RUNTIME_LOST_TIMEOUT_MS: '5',
    PHASELINE_CLEANUP_DELAY_MS: '6',
    PHASELINE_CRM_SILENCE_MS: '7',
    PHASELINE_PROCESS_RUNTIME: 'on',
  })
  expect(loaded).toMatchObject({
    ok: true,
    config: {
      port: 0,
      databaseUrl: 'postgresql://ada@localhost/db?host=%2Frun%2Fpg',
      roles: new Set(['gateway', 'engine']),
      allowedHosts: ['a.example', 'b.example:8443'],
      gadgetFolders: ['/gadgets', '/more/gadgets'],
      timeouts: {
        pickupMs: 1,
        progressingMs: 2,
        abortingMs: 2_147_483_647,
        runtimeLostMs: 5,
        cleanupMs: 6,
        crmSilenceMs: 7,
      },
      logRetentionMs: 12 * 60 * 60 * 1_000,
      secretKeys: [KEY, OLD_KEY],
      capacity: { maxWorkers: 3, maxJobs: 4 },
      processRuntime: true,
    },
  })
})

test.each([
  ['never', null],
  ['1m', 60_000],
  ['90d', 90 * 24 * 60 * 60 * 1_000],
  ['0d', undefined],
  ['30', undefined],
  ['1.5d', undefined],
  ['30s', undefined],
  ['-1d', undefined],
  ['100000d', undefined],
])('the log is kept for %s', (text, ms) => {
  const loaded = loadConfig({ PHASELINE_LOG_RETENTION: text })
  expect(loaded.ok ? loaded.config.logRetentionMs : undefined).toBe(ms)
})

test('all problems are told at once, and no value is in them', () => {
  const loaded = loadConfig({
    PORT: '65536',
    DATABASE_URL: 'mysql://root:hunter2@db/x',
    REDIS_URL: 'hunter2',
    PHASELINE_ROLES: 'gateway,hunter2',
    PHASELINE_TOKEN: 'hunter2',
    PHASELINE_LOG_LEVEL: 'hunter2',
    PHASELINE_PICKUP_TIMEOUT_MS: '5m',
    PHASELINE_ABORTING_TIMEOUT_MS: '0',
    PHASELINE_LOG_RETENTION: 'hunter2',
    PHASELINE_SECRET_KEY: 'hunter2',
  })
  const problems = loaded.ok ? [] : loaded.problems
  expect(problems.map((problem) => problem.split(':')[0])).toEqual([
    'PORT',
    'DATABASE_URL',
    'REDIS_URL',
    'PHASELINE_ROLES',
    'PHASELINE_TOKEN',
    'PHASELINE_LOG_LEVEL',
    'PHASELINE_PICKUP_TIMEOUT_MS',
    'PHASELINE_ABORTING_TIMEOUT_MS',
    'PHASELINE_LOG_RETENTION',
    'PHASELINE_SECRET_KEY',
  ])
  expect(problems.join('\n')).not.toContain('hunter2')
})

test('secrets do not reach the log', () => {
  let logged = ''
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk)
      done()
    },
  })
  const logger = createLogger('info', destination)
  logger.info(
    { token: 'hunter2', request: { headers: { authorization: 'Bearer hunter2' } }, item: { config: { a: 'hunter2' } } },
    'x',
  )
  logger.child({ password: 'hunter2' }).info({ item: { fence: 'hunter2', name: 'shown' } })
  logger.error({ err: Object.assign(new Error('violated'), { detail: 'Failing row contains (hunter2)' }) })
  expect(logged).toContain('shown')
  expect(logged).not.toContain('hunter2')
})
