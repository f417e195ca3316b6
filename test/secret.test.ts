import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../src/config.ts'
import { Secret } from '../src/core/secret.ts'
import { createLogger, type Logger } from '../src/logger.ts'
import { startApp } from '../src/main.ts'
import { explainStartError } from '../src/start/start-problem.ts'
import { createTestDatabase } from './testkit/postgres.ts'
import { until } from './testkit/wait.ts'

/** Secret settings are looked for wherever a server prints something. */

const MARKER = randomBytes(12).toString('hex')
const KEY = randomBytes(32)
const TOKEN = `token-${MARKER}`

/** Everything of a value that can be printed, with what is not enumerable. */
const printed = (value: unknown): string =>
  [inspect(value, { depth: null, showHidden: true, getters: true }), JSON.stringify(value), String(value)].join('\n')

function expectNoSecret(text: string): void {
  for (const hidden of [MARKER, KEY.toString('base64'), KEY.toString('hex'), inspect(KEY).slice(8, 40)])
    expect(text).not.toContain(hidden)
}

function logTo(lines: string[]): Logger {
  return createLogger('trace', { write: (line) => void lines.push(line) })
}

const configOf = (env: Readonly<Record<string, string>>) => {
  const loaded = loadConfig({ PORT: '0', PHASELINE_TOKEN: TOKEN, PHASELINE_SECRET_KEY: KEY.toString('base64'), ...env })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}

test('a secret shows itself only when it is asked to', () => {
  const secret = new Secret(MARKER)
  expect(secret.reveal()).toBe(MARKER)
  expect([`${secret}`, JSON.stringify({ secret }), inspect([secret]), inspect(secret, { showHidden: true })]).toEqual([
    '[secret]',
    '{"secret":"[secret]"}',
    '[ [secret] ]',
    '[secret]',
  ])
  expect({ ...secret }).toEqual({})
})

test('neither a printed configuration nor a logged one has secrets', () => {
  const config = configOf({
    DATABASE_URL: `postgres://ada:${MARKER}@db/x?application_name=${MARKER}`,
    REDIS_URL: `redis://:${MARKER}@cache`,
  })
  const lines: string[] = []
  // Under names that the logger does not know.
  logTo(lines)
    .child({ settings: config })
    .warn({ deep: { er: { still: config } }, key: config.secretKeys[0] }, 'started')
  logTo(lines).error({ err: Object.assign(new Error('failed', { cause: config }), { with: config }) })
  const text = [printed(config), ...lines].join('\n')
  expect(text).toContain('[secret]')
  expectNoSecret(text)
})

test.each([
  ['nobody answers', 'postgres:', '127.0.0.1:1'],
  ['no such host', 'postgres:', 'nowhere.invalid'],
  ['a password that no text is', 'postgres:', '127.0.0.1:1', '%E0%A4%A'],
])('a server that does not start since %s says nothing of its secrets', async (_, protocol, host, more = '') => {
  const lines: string[] = []
  const config = configOf({
    DATABASE_URL: `${protocol}//ada:${MARKER}${more}@${host}/x`,
    PHASELINE_DATABASE_START_TIMEOUT_MS: '0',
  })
  const failed = await startApp(config, { logger: logTo(lines) })
    .catch(explainStartError)
    .catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(Error)
  expectNoSecret([printed(failed), ...lines].join('\n'))
})

test('nor does one whose Redis refuses its password, or is none', async () => {
  await using database = await createTestDatabase(1)
  const noRedis = createServer((socket) => {
    // The client may have left with what was sent.
    socket.on('error', () => {})
    socket.end(`-ERR ${'no'} Redis\r\n`)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void noRedis.close())
  await until(() => noRedis.listening, { what: 'it listens' })
  const { port } = noRedis.address() as { readonly port: number }
  const lines: string[] = []
  const config = configOf({
    DATABASE_URL: database.url,
    REDIS_URL: `redis://ada:${MARKER}@127.0.0.1:${port}`,
    PHASELINE_ROLES: 'gateway',
    PHASELINE_PROCESS_RUNTIME: 'off',
  })
  await using app = await startApp(config, { logger: logTo(lines) })
  await until(() => lines.some((line) => line.includes('Redis')), { what: 'it is said' })
  expect(app.token?.reveal()).toBe(TOKEN)
  expectNoSecret([printed(app.token), ...lines].join('\n'))
})
