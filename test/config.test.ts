import { generateKeyPairSync } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { exposedSecrets, type LoadedConfig, loadConfig } from '../src/config.ts'
import { CHOSEN_TOKEN_RULE } from '../src/core/bearer.ts'
import { DEFAULT_DEADLINES } from '../src/core/database-deadlines.ts'
import { DEFAULT_LIMITS, GATEWAY_LIMITS } from '../src/core/gateway-limits.ts'
import { timeoutsOf } from '../src/families/define-family.ts'
import { families } from '../src/families/index.ts'
import { createLogger } from '../src/logger.ts'
import { runSecretCommand } from '../src/secret-sources.ts'
import { bearerOf } from '../src/server/auth/credentials.ts'
import { loadSettings } from '../src/settings.ts'
import { administratorToken } from '../src/start/administrator-token.ts'

const timeouts = timeoutsOf(families)

const KEY = Buffer.alloc(32, 255)
const OLD_KEY = Buffer.alloc(32, 7)

/** The values of all secrets of a configuration, which compares equal to any other without them. */
function secretsOf(loaded: LoadedConfig) {
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  const { token, secretKeys, databaseUrl, redisUrl } = loaded.config
  return {
    token: token?.reveal(),
    secretKeys: secretKeys.map((key) => key.reveal()),
    databaseUrl: databaseUrl?.reveal(),
    redisUrl: redisUrl?.reveal(),
  }
}

test('commands of users run here by themselves only where the database is embedded and nobody else reaches it', () => {
  const runs = (env: Record<string, string>) => {
    const loaded = loadConfig(env)
    return loaded.ok && loaded.config.workloads.level
  }
  const DATABASE_URL = 'postgres://db/x'
  expect(runs({})).toBe('isolated')
  for (const level of ['isolated', 'trusted', 'off'])
    expect(runs({ PHASELINE_PROCESS_RUNTIME: level }), level).toBe(level)
  expect(runs({ DATABASE_URL })).toBe('off')
  expect(runs({ DATABASE_URL, PHASELINE_PROCESS_RUNTIME: 'isolated' })).toBe('isolated')
  for (const HOST of ['localhost', '127.0.0.53', '::1']) expect(runs({ HOST }), HOST).toBe('isolated')
  for (const HOST of ['0.0.0.0', '::', '192.0.2.7', '127.0.0.1.example.org', 'phaseline.example.org']) {
    expect(runs({ HOST }), HOST).toBe('off')
    expect(runs({ HOST, PHASELINE_PROCESS_RUNTIME: 'trusted' }), HOST).toBe('trusted')
    expect(loadConfig({ HOST })).toMatchObject({ config: { processRuntimeOff: expect.stringContaining(HOST) } })
    expect(loadConfig({ HOST, PHASELINE_PROCESS_RUNTIME: 'off' })).toMatchObject({
      config: { processRuntimeOff: null },
    })
  }
})

describe('secrets in files and from commands', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'phaseline-settings-'))
  })
  afterAll(() => rm(folder, { recursive: true }))
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }

  test('are read, without the line end, keys one a line or with commas', async () => {
    const loaded = await loadSettings({
      PHASELINE_TOKEN: '',
      PHASELINE_TOKEN_FILE: await file('token', 'sixteen-letters.\n'),
      PHASELINE_SECRET_KEY_FILE: await file('keys', `${KEY.toString('base64')}\n${OLD_KEY.toString('base64')}\n`),
      DATABASE_URL_FILE: await file('database', 'postgres://ada:pw@db/x\n'),
      REDIS_URL_FILE: await file('redis', 'redis://cache\n'),
    })
    expect(loaded).toMatchObject({ ok: true, config: { workloads: { level: 'off', network: 'api', folders: [] } } })
    expect(secretsOf(loaded)).toEqual({
      token: 'sixteen-letters.',
      secretKeys: [KEY, OLD_KEY],
      databaseUrl: 'postgres://ada:pw@db/x',
      redisUrl: 'redis://cache',
    })
  })

  test('that of the database is read again, as its login may change, and a broken one is not passed on', async () => {
    const path = await file('changing', 'postgres://ada:one@a,b/x\n')
    const loaded = await loadSettings({ DATABASE_URL_FILE: path })
    if (!loaded.ok) throw new Error(loaded.problems.join())
    await file('changing', 'postgres://ada:two@a,b/x\n')
    expect(await loaded.config.readDatabaseUrl?.()).toBe('postgres://ada:two@a,b/x')
    await rm(path)
    expect(await loaded.config.readDatabaseUrl?.()).toBeNull()
    expect(await loadSettings({ DATABASE_URL: 'postgres://a/x' })).toMatchObject({ config: { readDatabaseUrl: null } })
  })

  test.each([
    [{ DATABASE_READ_URL: 'postgres://hunter2@r/x' }, 'DATABASE_READ_URL: needs DATABASE_URL'],
    [
      { DATABASE_URL: 'postgres://a/x', DATABASE_READ_URL: 'postgres://hunter2@r,s/x' },
      'DATABASE_READ_URL: must name one server',
    ],
    [
      { DATABASE_URL: 'postgres://a/x', DATABASE_READ_URL: 'mysql://hunter2@r/x' },
      'DATABASE_READ_URL: must be a URL that starts',
    ],
  ])('of replicas are refused: %j', async (env, problem) => {
    const loaded = await loadSettings(env)
    expect(loaded).toMatchObject({ ok: false, problems: [expect.stringContaining(problem)] })
    expect(JSON.stringify(loaded)).not.toContain('hunter2')
  })

  test('are refused by the name of the setting, with all other problems, and no value is told', async () => {
    const loaded = await loadSettings({
      PORT: 'x',
      PHASELINE_TOKEN_FILE: await file('short', 'hunter2'),
      PHASELINE_SECRET_KEY_FILE: join(folder, 'none'),
      DATABASE_URL: 'postgres://db/x',
      DATABASE_URL_FILE: await file('both', 'postgres://hunter2@db/x'),
      REDIS_URL_FILE: await file('large', 'hunter2'.repeat(10_000)),
    })
    expect(loaded).toEqual({
      ok: false,
      problems: [
        'PHASELINE_SECRET_KEY_FILE: its file cannot be read (ENOENT)',
        'DATABASE_URL_FILE: DATABASE_URL is set too: set one of them',
        'REDIS_URL_FILE: its file is larger than 64 KiB',
        'PORT: must be a whole number',
        `PHASELINE_TOKEN_FILE: ${CHOSEN_TOKEN_RULE}`,
      ],
    })
    const empty = await loadSettings({ PHASELINE_TOKEN_FILE: await file('empty', '\n') })
    expect(empty).toEqual({ ok: false, problems: ['PHASELINE_TOKEN_FILE: its file is empty'] })
  })

  test('may come from a command, which gets no secret and no shell', async () => {
    const script = await file(
      'vault',
      '#!/bin/sh\necho "$VAULT${PHASELINE_TOKEN-}${DATABASE_URL-}$1" | tr -d "\'" | tr "\\$;" "~+"\necho of no use >&2\n',
    )
    await chmod(script, 0o700)
    const loaded = await loadSettings({
      VAULT: 'sixteen-',
      DATABASE_URL: 'postgres://db/x',
      PHASELINE_TOKEN_COMMAND: ` ${script}  '$HOME;letters' `,
      PHASELINE_SECRET_KEY_COMMAND: `printf %s ${KEY.toString('base64')}`,
    })
    expect(secretsOf(loaded)).toMatchObject({ token: 'sixteen-~HOME+letters', secretKeys: [KEY] })
  })

  test('of a command that fails nothing is told but how', async () => {
    const script = await file('broken', '#!/bin/sh\necho hunter2; echo hunter2 >&2; exit 3\n')
    await chmod(script, 0o700)
    const loaded = await loadSettings({
      PHASELINE_TOKEN_COMMAND: script,
      PHASELINE_SECRET_KEY_COMMAND: 'echo hunter2',
      DATABASE_URL_COMMAND: 'phaseline-has-no-such-program hunter2',
      REDIS_URL: 'redis://cache',
      REDIS_URL_COMMAND: 'echo hunter2',
    })
    expect(loaded).toEqual({
      ok: false,
      problems: [
        'PHASELINE_TOKEN_COMMAND: its command has failed (exit code 3)',
        'DATABASE_URL_COMMAND: its command cannot be run (ENOENT)',
        'REDIS_URL_COMMAND: REDIS_URL is set too: set one of them',
        'PHASELINE_SECRET_KEY_COMMAND: must be 32 bytes in base64; several with commas between them',
      ],
    })
  })

  test('a command has bounds in time and size', async () => {
    const script = await file('endless', '#!/bin/sh\nsleep 5 & sleep 5\n')
    await chmod(script, 0o700)
    expect(await runSecretCommand(script, {}, 100)).toEqual({ problem: 'its command has not ended within 0.1 s' })
    expect(await runSecretCommand('yes hunter2', {})).toEqual({ problem: 'its command prints more than 64 KiB' })
    expect(await runSecretCommand('true', {})).toEqual({ problem: 'its command prints nothing' })
  })

  test('those in the environment are known by their names', () => {
    expect(exposedSecrets({ PHASELINE_TOKEN_FILE: 'x', DATABASE_URL: 'postgres://ada@db/x', REDIS_URL: ' ' })).toEqual(
      [],
    )
    expect(
      exposedSecrets({
        PHASELINE_TOKEN: 'x',
        PHASELINE_SECRET_KEY: 'x',
        DATABASE_URL: 'postgres://db/x?password=pw',
        REDIS_URL: 'redis://:pw@cache',
        PGPASSWORD: 'pw',
      }),
    ).toEqual(['PHASELINE_TOKEN', 'PHASELINE_SECRET_KEY', 'DATABASE_URL', 'REDIS_URL', 'PGPASSWORD'])
    const several = { DATABASE_URL: 'postgres://ada:pw@a:1,b:2/x', REDIS_URL: 'redis+sentinel://:pw@a,b/signals' }
    expect(exposedSecrets(several)).toEqual(['DATABASE_URL', 'REDIS_URL'])
  })
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

test.each(['10.0.0.0/33', 'proxy.example.org', '10.0.0.1/', '::1/129'])('no proxy: %s', (network) => {
  expect(loadConfig({ PHASELINE_TRUSTED_PROXIES: `127.0.0.1,2001:db8::/32,${network}` })).toEqual({
    ok: false,
    problems: ['PHASELINE_TRUSTED_PROXIES: must be addresses or networks such as 10.0.0.0/8, comma-separated'],
  })
})

test('nothing has to be set, and what is empty is not set', () => {
  const loaded = loadConfig({ PORT: '', DATABASE_URL: ' ', HOME: '/somewhere' }, { timeouts })
  expect(loaded).toEqual({
    ok: true,
    config: {
      port: 4000,
      host: '127.0.0.1',
      tls: null,
      tracing: null,
      readDatabaseUrl: null,
      replicaUrl: undefined,
      readReplicaUrl: null,
      agentsPort: 0,
      admin: null,
      drain: { delayMs: 0, timeoutMs: 25_000 },
      dataDir: '.phaseline',
      databaseUrl: undefined,
      deadlines: DEFAULT_DEADLINES,
      redisUrl: undefined,
      roles: new Set(['gateway', 'engine', 'agents']),
      token: undefined,
      logLevel: 'info',
      allowedHosts: [],
      allowedOrigins: [],
      trustedProxies: [],
      limits: DEFAULT_LIMITS,
      disclosure: { introspection: true, suggestions: true },
      documents: { path: undefined, isRequired: false },
      gadgetFolders: [],
      editorTypes: new Set(),
      timeouts: {
        pickupMs: 300_000,
        progressingMs: 600_000,
        abortingMs: 300_000,
        runtimeLostMs: 300_000,
        cleanupMs: 60_000,
        crmSilenceMs: 300_000,
      },
      logRetentionMs: 30 * 24 * 60 * 60 * 1_000,
      auditRetentionMs: 365 * 24 * 60 * 60 * 1_000,
      agentRetentionMs: 7 * 24 * 60 * 60 * 1_000,
      artifacts: { retentionMs: 30 * 24 * 60 * 60 * 1_000, quotaBytes: 2 ** 30, cacheBytes: 2 ** 30 },
      secretKeys: [],
      sealKey: null,
      capacity: { maxWorkers: 50, maxJobs: 100 },
      workloads: { level: 'isolated', network: 'api', folders: [] },
      outgoing: { networks: [], mail: null, dashboard: null },
      processRuntimeOff: null,
    },
  })
})

test('an option of the command line goes before its variable, and is judged as it is', async () => {
  const load = (value: string | undefined) =>
    loadSettings({ PORT: '4100' }, timeouts, [{ name: '--port', setting: 'PORT', value }])
  expect(await load('4200')).toMatchObject({ config: { port: 4200 } })
  for (const absent of [undefined, '', ' ']) expect(await load(absent)).toMatchObject({ config: { port: 4100 } })
  expect(await load('70000')).toEqual({ ok: false, problems: ['--port: must be from 0 to 65535'] })
})

test('everything that can be set', () => {
  const loaded = loadConfig(
    {
      PORT: '0',
      HOST: '::1',
      PHASELINE_DATA: '/data',
      DATABASE_URL: 'postgresql://ada@localhost/db?host=%2Frun%2Fpg',
      PHASELINE_DATABASE_CONNECT_TIMEOUT_MS: '100',
      PHASELINE_DATABASE_POOL_TIMEOUT_MS: '200',
      PHASELINE_DATABASE_SILENCE_MS: '300',
      PHASELINE_DATABASE_START_TIMEOUT_MS: '0',
      REDIS_URL: 'rediss://cache:6380',
      PHASELINE_ROLES: 'engine, gateway',
      PHASELINE_TOKEN: 'sixteen-letters.',
      PHASELINE_LOG_LEVEL: 'debug',
      PHASELINE_ALLOWED_HOSTS: 'a.example, b.example:8443,',
      PHASELINE_ALLOWED_ORIGINS: 'https://a.example',
      PHASELINE_GADGETS: '/gadgets:/more/gadgets',
      PHASELINE_EDITOR_TYPES: 'dns, container',
      PHASELINE_PICKUP_TIMEOUT_MS: '1',
      PHASELINE_PROGRESSING_TIMEOUT_MS: '2',
      PHASELINE_ABORTING_TIMEOUT_MS: '2147483647',
      PHASELINE_LOG_RETENTION: '12h',
      PHASELINE_AUDIT_RETENTION: '90d',
      PHASELINE_AGENT_RETENTION: 'never',
      PHASELINE_SECRET_KEY: `${KEY.toString('base64')}, ${OLD_KEY.toString('base64')}`,
      PHASELINE_MAX_WORKERS: '3',
      PHASELINE_MAX_JOBS: '4',
      PHASELINE_RUNTIME_LOST_TIMEOUT_MS: '5',
      PHASELINE_CLEANUP_DELAY_MS: '6',
      PHASELINE_CRM_SILENCE_MS: '7',
      PHASELINE_PROCESS_RUNTIME: 'trusted',
      PHASELINE_WORKLOAD_NETWORK: 'host',
      PHASELINE_WORKLOAD_FOLDERS: '/opt/node:/opt/go',
      PHASELINE_ADMIN_PORT: '9090',
      PHASELINE_ADMIN_HOST: '0.0.0.0',
      PHASELINE_DRAIN_DELAY_MS: '10000',
      PHASELINE_DRAIN_TIMEOUT_MS: '50000',
    },
    { timeouts },
  )
  expect(loaded).toMatchObject({
    ok: true,
    config: {
      port: 0,
      roles: new Set(['gateway', 'engine']),
      deadlines: { connectTimeoutMs: 100, poolTimeoutMs: 200, silenceMs: 300, startTimeoutMs: 0 },
      allowedHosts: ['a.example', 'b.example:8443'],
      gadgetFolders: ['/gadgets', '/more/gadgets'],
      editorTypes: new Set(['dns', 'container']),
      timeouts: {
        pickupMs: 1,
        progressingMs: 2,
        abortingMs: 2_147_483_647,
        runtimeLostMs: 5,
        cleanupMs: 6,
        crmSilenceMs: 7,
      },
      logRetentionMs: 12 * 60 * 60 * 1_000,
      auditRetentionMs: 90 * 24 * 60 * 60 * 1_000,
      agentRetentionMs: null,
      capacity: { maxWorkers: 3, maxJobs: 4 },
      workloads: { level: 'trusted', network: 'host', folders: ['/opt/node', '/opt/go'] },
      admin: { port: 9090, host: '0.0.0.0' },
      drain: { delayMs: 10_000, timeoutMs: 50_000 },
    },
  })
  expect(secretsOf(loaded)).toEqual({
    token: 'sixteen-letters.',
    secretKeys: [KEY, OLD_KEY],
    databaseUrl: 'postgresql://ada@localhost/db?host=%2Frun%2Fpg',
    redisUrl: 'rediss://cache:6380',
  })
})

test('only a private Ed25519 key seals the log', () => {
  const pem = { format: 'pem', type: 'pkcs8' } as const
  const sealing = generateKeyPairSync('ed25519')
  const loaded = loadConfig({ PHASELINE_SEAL_KEY: sealing.privateKey.export(pem).toString() })
  expect(loaded.ok && loaded.config.sealKey?.equals(sealing.privateKey)).toBe(true)
  const others = [
    sealing.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    generateKeyPairSync('x25519').privateKey.export(pem).toString(),
    'hunter2',
  ]
  const problem = 'PHASELINE_SEAL_KEY: must be a private Ed25519 key in PEM: openssl genpkey -algorithm ed25519'
  for (const other of others)
    expect(loadConfig({ PHASELINE_SEAL_KEY: other })).toEqual({ ok: false, problems: [problem] })
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

test('a process cannot spend all the time of its end on waiting', () => {
  const problems = ['PHASELINE_DRAIN_DELAY_MS: must be less than PHASELINE_DRAIN_TIMEOUT_MS']
  expect(loadConfig({ PHASELINE_DRAIN_DELAY_MS: '25000' })).toEqual({ ok: false, problems })
  expect(loadConfig({ PHASELINE_DRAIN_DELAY_MS: '24999' }).ok).toBe(true)
})

test('a role that would start nothing is refused', () => {
  const rolesWith = (PHASELINE_ROLES: string, env: Record<string, string> = {}) => {
    const loaded = loadConfig({ PHASELINE_ROLES, ...env })
    return loaded.ok ? loaded.config : loaded.problems.join()
  }
  const lacks = (what: string) => expect.stringMatching(`agents without gateway would start nothing without ${what}:`)
  const PHASELINE_URL = 'https://phaseline.example/graphql'
  const PHASELINE_TOKEN = 'sixteen-letters.'
  expect(rolesWith('agents')).toEqual(lacks('PHASELINE_URL and PHASELINE_TOKEN'))
  expect(rolesWith('engine,agents', { PHASELINE_URL })).toEqual(lacks('PHASELINE_TOKEN'))
  expect(rolesWith('agents', { PHASELINE_TOKEN })).toEqual(lacks('PHASELINE_URL'))
  expect(rolesWith('agents', { PHASELINE_URL: 'ftp://a.example', PHASELINE_TOKEN })).toMatch(
    'must be an http or https URL',
  )
  const secretUrl = { PHASELINE_URL: 'https://ada:hunter2@a.example', PHASELINE_TOKEN }
  expect(rolesWith('agents', secretUrl)).not.toMatch('hunter2')
  expect(rolesWith('agents', { PHASELINE_URL, PHASELINE_TOKEN })).toMatchObject({
    agentsUrl: PHASELINE_URL,
    // Its users are not those of this machine.
    workloads: { level: 'off' },
  })
  expect(rolesWith('gateway,agents')).toMatchObject({ agentsUrl: undefined })
})

test('all problems are told at once, and no value is in them', () => {
  const loaded = loadConfig({
    PORT: '65536',
    DATABASE_URL: 'mysql://root:hunter2@db/x',
    REDIS_URL: 'hunter2',
    PHASELINE_ROLES: 'gateway,hunter2',
    PHASELINE_TOKEN: 'hunter2',
    PHASELINE_LOG_LEVEL: 'hunter2',
    PHASELINE_DATABASE_SILENCE_MS: '99',
    PHASELINE_PICKUP_TIMEOUT_MS: '5m',
    PHASELINE_ABORTING_TIMEOUT_MS: '0',
    PHASELINE_LOG_RETENTION: 'hunter2',
    PHASELINE_AGENT_RETENTION: 'hunter2',
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
    'PHASELINE_AGENT_RETENTION',
    'PHASELINE_SECRET_KEY',
    'PHASELINE_DATABASE_SILENCE_MS',
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

test('a log for people leaves out the same secrets, and has details of problems only', () => {
  const lines: string[] = []
  const logger = createLogger('info', { write: (line) => void lines.push(line) }, 'text')
  logger.info({ epoch: 1 }, 'Phaseline has started')
  logger.warn({ settings: ['DATABASE_URL'], token: 'hunter2' }, 'can be \u001b[31mread')
  logger.error({ err: new TypeError('no\nidea') }, 'a request failed')
  expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''))).toEqual([
    'INFO  Phaseline has started\n',
    'WARN  can be \\u001b[31mread settings=["DATABASE_URL"] token="[Redacted]"\n',
    expect.stringMatching(/^ERROR a request failed\n {2}TypeError: no\n {2}idea\n {6}at .*\n$/s),
  ])
  expect(loadConfig({ PHASELINE_LOG_FORMAT: 'json' })).toMatchObject({ config: { logFormat: 'json' } })
  expect(loadConfig({ PHASELINE_LOG_FORMAT: 'pretty' })).toMatchObject({ ok: false })
})

test('each limit of a gateway is a setting, with bounds', () => {
  for (const [name, { setting, least, most }] of Object.entries(GATEWAY_LIMITS)) {
    for (const value of [least, most]) {
      expect(loadConfig({ [setting]: String(value) })).toMatchObject({ config: { limits: { [name]: value } } })
    }
    for (const value of [least - 1, most + 1]) {
      const problems = [`${setting}: must be from ${least} to ${most}`]
      expect(loadConfig({ [setting]: String(value) })).toEqual({ ok: false, problems })
    }
  }
})

test.each([
  ['sixteen-letters.', true],
  ['pl_AZaz09-._~+/==', true],
  ['x'.repeat(512), true],
  ['x'.repeat(15), false],
  ['x'.repeat(513), false],
  ['sixteen letters …', false],
  ['sixteen-letters.!', false],
  ['sixteen-letters\u00e9', false],
  ['sixteen-letters\ttab', false],
  ['"sixteen-letters"', false],
])('a token is refused at start if no request can carry it: %s', async (token, accepted) => {
  if (accepted) expect(bearerOf(`Bearer ${token}`)).toBe(token)
  const loaded = loadConfig({ PHASELINE_TOKEN: token })
  if (accepted) expect(secretsOf(loaded).token).toBe(token)
  else expect(loaded).toEqual({ ok: false, problems: [`PHASELINE_TOKEN: ${CHOSEN_TOKEN_RULE}`] })
  const dataDir = await mkdtemp(join(tmpdir(), 'phaseline-token-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  await writeFile(join(dataDir, 'token'), `${token}\n`)
  const started = administratorToken({ token: undefined, databaseUrl: undefined, dataDir })
  if (accepted) expect((await started)?.reveal()).toBe(token)
  else await expect(started).rejects.toThrow(`${join(dataDir, 'token')}: the token ${CHOSEN_TOKEN_RULE}`)
})
