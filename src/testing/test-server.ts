import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { run } from '../cli/run.ts'
import { createClient } from '../client/index.ts'
import { parseDuration } from '../core/parse-duration.ts'
import { timeoutsOf } from '../families/define-family.ts'
import { families } from '../families/index.ts'
import { createLogger } from '../logger.ts'
import { startApp } from '../main.ts'
import { loadSettings } from '../settings.ts'
import { createPool } from '../store/pool.ts'
import type { TestServer, TestServerOptions } from './api.ts'
import { MovedTime } from './moved-time.ts'
import { play } from './play.ts'
import { createTestDatabase, testFolder } from './test-database.ts'
import { until } from './until.ts'

/** A process more for each server, and commands of users on this machine, are for those who ask for them. */
const SETTINGS = {
  PORT: '0',
  PHASELINE_LOG_LEVEL: 'error',
  PHASELINE_ROLES: 'gateway,engine',
  PHASELINE_LOG_RETENTION: 'never',
}

export async function start({ at, manifests, settings = {} }: TestServerOptions = {}): Promise<TestServer> {
  await using parts = new AsyncDisposableStack()
  const dataDir = parts.adopt(await mkdtemp(join(await testFolder(), 'server-')), (folder) =>
    rm(folder, { recursive: true, force: true }),
  )
  const token = settings.PHASELINE_TOKEN ?? randomBytes(24).toString('base64url')
  const config = await configOf({
    ...{ DATABASE_URL: settings.DATABASE_URL ?? parts.use(await createTestDatabase()).url },
    ...{ PHASELINE_DATA: dataDir, PHASELINE_SECRET_KEY: randomBytes(32).toString('base64') },
    ...{ ...SETTINGS, ...settings, PHASELINE_TOKEN: token },
  })
  const logger = createLogger(config.logLevel)
  let aheadMs = at === undefined ? 0 : null
  const movedTime = (now: Date): Date => {
    aheadMs ??= timeOf(at).getTime() - now.getTime()
    return new Date(now.getTime() + aheadMs)
  }
  const app = parts.use(await startApp(config, { logger, movedTime }))
  const { system, origin } = app
  if (origin === null) throw new Error('PHASELINE_ROLES of a test server must have gateway')
  const url = `${origin}/graphql`
  const client = parts.use(createClient({ url, token }))
  const pool = parts.adopt(
    createPool({ connectionString: config.databaseUrl?.reveal() }, { max: 2, logger, name: 'testing' }),
    (one) => one.end(),
  )
  const types: string[] = []
  const time = new MovedTime({
    ...{ pool, now: () => system.now(), types: () => types },
    ...{ wake: () => app.timeMoved(), isAtRest: (reading) => app.isAtRest(reading) },
    set(to) {
      aheadMs = (aheadMs ?? 0) + Math.max(0, to.getTime() - system.now().getTime())
    },
  })
  /** Moves come one after the other. */
  let moved: Promise<void> = Promise.resolve()
  const running = parts.move()
  const server: TestServer = {
    ...{ url, token, client },
    now: () => system.now(),
    async advance(by) {
      const ms = durationOf(by)
      const moving = moved.then(() => time.advance(ms))
      moved = moving.catch(() => undefined)
      await moving
    },
    play: async (...played) => running.use(await play({ client, url, types }, played)),
    until: (...what) => until(client, what),
    apply: (yaml) => apply(yaml, { url, token }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
  await using starting = new AsyncDisposableStack()
  starting.use(server)
  if (manifests !== undefined) await server.apply(manifests)
  starting.move()
  return server
}

async function configOf(env: Readonly<Record<string, string>>) {
  const loaded = await loadSettings(env, timeoutsOf(families))
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}

const timeOf = (at: Date | string | undefined): Date => {
  const time = new Date(at ?? Number.NaN)
  if (Number.isNaN(time.getTime())) throw new Error(`${String(at)} is no time: give one such as 2026-03-01T00:00:00Z.`)
  return time
}

function durationOf(by: string | number): number {
  const ms = typeof by === 'number' ? by : parseDuration(by)
  if (ms === null || !(ms >= 0 && Number.isFinite(ms)))
    throw new Error(`${by} is no duration: give one such as 30d or 1h30m, or milliseconds.`)
  return ms
}

/** The command itself, so that it takes what that takes, and refuses it in the same words. */
async function apply(yaml: string, { url, token }: { readonly url: string; readonly token: string }): Promise<void> {
  let said = ''
  const stderr = {
    write(text: string | Uint8Array) {
      said += String(text)
    },
  }
  const io = {
    ...{ stdout: { write: () => {} }, stderr, stdin: Readable.from([yaml]) },
    ...{ env: { PHASELINE_URL: url, PHASELINE_TOKEN: token }, signal: new AbortController().signal },
  }
  const code = await run(['apply', '-f', '-'], io)
  if (code !== 0) throw new Error(said.trim())
}
