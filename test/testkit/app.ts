import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/client/index.ts'
import type { Config } from '../../src/config.ts'
import { timeoutsOf } from '../../src/families/define-family.ts'
import { families } from '../../src/families/index.ts'
import { createLogger } from '../../src/logger.ts'
import { type App, type AppOptions, startApp } from '../../src/main.ts'
import { loadSettings } from '../../src/settings.ts'
import { createTestDatabase } from './postgres.ts'
import { rulesHold } from './rules-hold.ts'
import { type ReachableServer, SECRET_KEY } from './server.ts'

export interface TestAppOptions extends Pick<AppOptions, 'families'> {
  /** Settings; a server without built-in agents has the roles `gateway,engine`. */
  readonly env?: Readonly<Record<string, string>>
  readonly token?: string
}

export interface TestApp extends ReachableServer {
  readonly app: App
}

/**
 * The whole server, from its settings to its port, in the process of the tests, which has loaded the code already: for tests
 * that only talk to it. One that a test kills, freezes or starts again, or that is about processes, is `startServer`'s.
 */
export async function startTestApp({
  env = {},
  token = randomBytes(24).toString('base64url'),
  ...options
}: TestAppOptions = {}): Promise<TestApp> {
  await using starting = new AsyncDisposableStack()
  const { app, output } = starting.use(await startTestProcess({ env, token, ...options }))
  const { origin } = app
  if (origin === null) throw new Error('a server without the role gateway cannot be reached')
  const url = `${origin}/graphql`
  const client = starting.use(createClient({ url, token }))
  const running = starting.move()
  return { app, url, origin, token, client, output, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

export interface TestProcess extends AsyncDisposable {
  readonly app: App
  /** Its log so far. */
  output(): string
}

/** The same with any roles. */
export async function startTestProcess({
  env = {},
  token = randomBytes(24).toString('base64url'),
  ...options
}: TestAppOptions = {}): Promise<TestProcess> {
  await using starting = new AsyncDisposableStack()
  const dataDir = starting.adopt(await mkdtemp(join(tmpdir(), 'phaseline-server-')), (folder) =>
    rm(folder, { recursive: true, force: true }),
  )
  const database = env.DATABASE_URL ?? starting.use(await createTestDatabase(1)).url
  const config = await configOf({ DATABASE_URL: database, PHASELINE_DATA: dataDir, PHASELINE_TOKEN: token, ...env })
  let output = ''
  const write = (line: string): void => {
    output += line
  }
  const logger = createLogger(config.logLevel, { write })
  const app = starting.use(await startApp(config, { ...options, logger }))
  const running = starting.move()
  running.defer(async () => rulesHold(output))
  return { app, output: () => output, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

export async function configOf(env: Readonly<Record<string, string>>): Promise<Config> {
  const settings = await loadSettings(
    {
      PORT: '0',
      PHASELINE_LOG_LEVEL: 'warn',
      PHASELINE_SECRET_KEY: SECRET_KEY,
      // A process more for each server: for those that need it.
      PHASELINE_PROCESS_RUNTIME: 'off',
      ...env,
    },
    timeoutsOf(families),
  )
  if (!settings.ok) throw new Error(settings.problems.join('\n'))
  return settings.config
}
