import { createHmac, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { AgentProcessOptions } from './agents/agent-process.ts'
import { startAgentProcess } from './agents/spawn.ts'
import { type Config, exposedSecrets, SECRET_SETTINGS } from './config.ts'
import type { Signal } from './core/ports/signal.ts'
import { evaluateIn } from './engine/evaluate.ts'
import { kindsOf } from './engine/families.ts'
import { createEngineHost, type EngineHost } from './engine/index.ts'
import {
  type BuiltInAgent,
  createCommands,
  type FamilyDefinition,
  type FamilyParts,
  familyTokens,
  type LoadedFamily,
  loadFamilies,
} from './families/define-family.ts'
import { families as ownFamilies } from './families/index.ts'
import { createTokens, type Tokens } from './graphql/auth/tokens.ts'
import { createKindRegistry } from './graphql/family.ts'
import { createLive } from './graphql/log/live.ts'
import { OpenStreams } from './graphql/log/open-streams.ts'
import { buildSchema } from './graphql/schema.ts'
import { createNumberer } from './log/numberer.ts'
import { createPruner } from './log/pruner.ts'
import { createLog } from './log/reader.ts'
import { createMemorySignal } from './log/signal/memory.ts'
import { createLogger } from './logger.ts'
import { FolderInUse } from './process/folder-lock.ts'
import { createSandbox } from './sandbox/index.ts'
import { loadSecretKeys, SecretKeyProblem } from './secret-keys.ts'
import { createServer } from './server/server.ts'
import { loadSettings } from './settings.ts'
import { startDatabaseClock } from './store/database-clock.ts'
import { startEmbeddedPostgres } from './store/embedded/index.ts'
import { MigrationError, migrate } from './store/migrate.ts'
import { type Connection, createPool } from './store/pool.ts'
import { ensureProject } from './store/projects.ts'
import { createSealing } from './store/sealing.ts'
import { systemOf } from './system.ts'

/** The composition root: the only file that wires everything. */

const MIGRATIONS = 'prisma/migrations'
const DASHBOARD = 'web-playground/dist'
/** The package's own folder, whether this runs as source or built. */
const HOME = packageOf(import.meta.dirname)
const POOL_SIZE = 8
/** Of the trees' transactions: more than a few of them at once only wait for each other. */
const WRITERS = 4
/** Those who read the log have connections of their own, so that a crowd that comes back does not stop the work. */
const READERS = 4

export interface App extends AsyncDisposable {
  /** e.g. http://127.0.0.1:4000; null for a process without a gateway. */
  readonly origin: string | null
  /** The administrator's; null when this process was given none. */
  readonly token: string | null
  readonly engineHost: EngineHost
}
export interface AppOptions {
  readonly logger: Logger
  /** Beside those of the configuration. */
  readonly gadgetFolders?: readonly string[]
  /** In the place of the product's own. */
  readonly families?: readonly FamilyDefinition[]
}

/** Starts what the configuration says, in the order in which each part needs the others; disposing ends it in reverse. */
export async function startApp(
  config: Config,
  { logger, gadgetFolders = [], families: given = ownFamilies }: AppOptions,
): Promise<App> {
  await using starting = new AsyncDisposableStack()
  const [connection, families] = await Promise.all([connect(config, logger, starting), loadFamilies(given)])
  const openPool = (max: number, planOnce = false) =>
    starting.adopt(createPool(connection, { max, logger, planOnce }), (pool) => pool.end())
  const pool = openPool(POOL_SIZE)
  await migrate(pool, join(HOME, MIGRATIONS))
  const clock = starting.use(await startDatabaseClock({ pool, logger }))
  const system = systemOf(clock)
  await ensureProject(pool, 'default', system)
  const sealing = createSealing(await loadSecretKeys(config), system)
  const tokens = createTokens(pool, system, familyTokens(families, { pool, sealing }))
  const secret = await administratorToken(config)
  const agents = families.flatMap((family) => family.agents)
  if (secret) await adoptTokens(tokens, secret, agents)

  const signal = starting.adopt(await openSignal(config, logger), (s) => s.close())
  const numberer = starting.use(createNumberer({ pool, signal, logger }))
  // The log is opened before those who remember objects.
  let forget = (): void => undefined
  const onReplaced = () => forget()
  const log = starting.use(await createLog({ pool: openPool(READERS), signal, logger, numberer, onReplaced }))
  const sandbox = starting.use(createSandbox({ logger }))
  const engineHost = starting.use(
    createEngineHost({
      parts: {
        pool: openPool(WRITERS, true),
        kinds: kindsOf(families.map(({ rules }) => rules)),
        system,
        timeouts: config.timeouts,
      },
      evaluate: evaluateIn(sandbox),
      signal,
      appended: (batches) => log.appended(batches),
      committed: () => log.committed(),
      logger,
    }),
  )
  forget = () => engineHost.runner.forget()
  if (config.roles.has('engine')) {
    for (const family of families) await family.prepare?.({ pool, config })
    engineHost.startEngine()
    const { logRetentionMs: retentionMs } = config
    if (retentionMs !== null) starting.use(createPruner({ pool, system, logger, retentionMs }))
  }
  let origin: string | null = null
  if (config.roles.has('gateway')) {
    const services = {
      ...gatewayServices(families, engineHost, { system, sandbox, pool, sealing, timeouts: config.timeouts }),
      pool,
      log,
      tokens,
      live: createLive(pool),
      streams: new OpenStreams(),
      logger,
      system,
    }
    const dashboardFolder = join(HOME, DASHBOARD)
    const schema = buildSchema(families.map(({ graphql }) => graphql))
    const server = starting.use(await createServer({ config, schema, services, logger, dashboardFolder, clock }))
    origin = server.url
  }
  if (config.roles.has('agents') && origin && secret) {
    const folders = [...config.gadgetFolders, ...gadgetFolders].map((folder) => resolve(folder))
    for (const agent of startAgents(agents, config, folders, agentStarter({ origin, secret, logger })))
      starting.use(agent)
  }
  const running = starting.move()
  return { origin, token: secret, engineHost, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

function gatewayServices(
  families: readonly LoadedFamily[],
  { trees, agents }: EngineHost,
  parts: Omit<FamilyParts, 'trees'>,
) {
  return {
    ...createCommands(families, { ...parts, trees }),
    agents,
    kinds: createKindRegistry(families.map(({ graphql }) => graphql)),
  }
}

async function connect(config: Config, logger: Logger, starting: AsyncDisposableStack): Promise<Connection> {
  if (config.databaseUrl) return { connectionString: config.databaseUrl }
  const embedded = starting.use(await startEmbeddedPostgres({ dataDir: config.dataDir, logger }))
  return embedded.connection
}

async function openSignal({ redisUrl: url }: Config, logger: Logger): Promise<Signal> {
  if (!url) return createMemorySignal({ logger })
  // Its client is a good part of what there is to load, and whoever has one process needs none of it.
  const { createRedisSignal } = await import('./log/signal/redis.ts')
  return createRedisSignal({ url, logger })
}

/** Given, or generated once into the embedded data folder, for nobody else to read. */
async function administratorToken({ token, databaseUrl, dataDir }: Config): Promise<string | null> {
  if (token || databaseUrl) return token ?? null
  const file = join(dataDir, 'token')
  const known = await readFile(file, 'utf8').catch(() => '')
  if (known.trim()) return known.trim()
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const made = randomBytes(24).toString('base64url')
  await writeFile(file, `${made}\n`, { mode: 0o600 })
  return made
}

/** Made from the administrator's, so that all processes of an installation have the same. */
const agentSecret = (secret: string, { purpose }: BuiltInAgent): string =>
  createHmac('sha256', secret).update(purpose).digest('base64url')

async function adoptTokens(tokens: Tokens, secret: string, builtIn: readonly BuiltInAgent[]): Promise<void> {
  const unlimited = { projects: null, targets: null, expiresInMs: null }
  await tokens.adopt(secret, { ...unlimited, name: 'admin', role: 'ADMIN', actor: 'USER', types: null })
  for (const agents of builtIn) {
    const { name, actor, types } = agents
    await tokens.adopt(agentSecret(secret, agents), { ...unlimited, name, role: 'AGENT', actor, types: [...types] })
  }
}

function startAgents(
  agents: readonly BuiltInAgent[],
  { dataDir, processRuntime }: Config,
  gadgetFolders: readonly string[],
  start: ReturnType<typeof agentStarter>,
): readonly AsyncDisposable[] {
  const settings = { gadgetFolders, dataDir: resolve(dataDir), processRuntime }
  return agents.flatMap((agent) => agent.processes(settings).map((process) => start(agent, process)))
}

function agentStarter({ origin, secret, logger }: { origin: string; secret: string; logger: Logger }) {
  return (
    agents: BuiltInAgent,
    options: Pick<AgentProcessOptions, 'types' | 'gadgetFolders' | 'state'>,
  ): AsyncDisposable =>
    startAgentProcess({
      ...options,
      url: `${origin}/graphql`,
      token: agentSecret(secret, agents),
      onEvent(event) {
        const failed = event.type === 'ended' && event.restartInMs !== null
        const told = { ...event, agent: options.types.join() }
        if (failed) logger.warn(told, 'a built-in agent ended and is started again')
        else logger.debug(told, 'a built-in agent')
      },
    })
}

function packageOf(folder: string): string {
  return existsSync(join(folder, MIGRATIONS)) ? folder : packageOf(dirname(folder))
}

/** Why the server cannot start, for whoever started it: no defect, and no stack. */
export class StartProblem extends Error {
  override name = 'StartProblem'
}

/** What the surroundings refuse is told in one line; anything else is a defect and stays what it is. */
function explain(error: unknown): never {
  if (error instanceof FolderInUse || error instanceof MigrationError || error instanceof SecretKeyProblem)
    throw new StartProblem(error.message, { cause: error })
  // System errors and those of Postgres have codes, e.g. EADDRINUSE or 28P01.
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    throw new StartProblem(`The server cannot start: ${error.message || error.code}`, { cause: error })
  }
  throw error
}

export interface ServeOptions {
  readonly example: boolean
  readonly signal?: AbortSignal
}

/** `phaseline serve`: runs until it is told to stop. */
export async function serve({ example, signal = untilTold() }: ServeOptions): Promise<void> {
  const exposed = exposedSecrets(process.env)
  const loaded = await loadSettings(process.env)
  if (!loaded.ok)
    throw new StartProblem(`The settings cannot be used:\n${loaded.problems.map((p) => `  ${p}`).join('\n')}`)
  const { config } = loaded
  // Whatever this process starts shall not be handed them.
  for (const name of SECRET_SETTINGS) delete process.env[name]
  const logger = createLogger(config.logLevel)
  const shop = join(HOME, 'examples/webshop')
  const gadgetFolders = example ? [join(shop, 'gadgets')] : []
  await using app = await startApp(config, { logger, gadgetFolders }).catch(explain)
  const say = (text: string) => process.stdout.write(`${text}\n`)
  if (app.origin) {
    // In the fragment, which a browser keeps to itself; a token that was given is known already.
    const fragment = app.token && !config.token ? `#token=${app.token}` : ''
    say(`Phaseline is at ${app.origin}/${fragment}`)
    say(`GraphiQL is at ${app.origin}/graphql${fragment}`)
    if (config.roles.has('agents')) tellOfCommands(config, exposed, { logger, say })
  }
  if (example && app.origin && app.token) {
    const { showExample } = await import('./example.ts')
    await showExample({ origin: app.origin, token: app.token, dataDir: config.dataDir, folder: shop, signal, say })
  }
  if (!signal.aborted) await new Promise((stopped) => signal.addEventListener('abort', stopped, { once: true }))
  say('Stopping …')
}

/** Whether commands of users run here, where that may be a surprise. */
function tellOfCommands(
  { processRuntime, processRuntimeOff }: Config,
  exposed: readonly string[],
  { logger, say }: { readonly logger: Logger; say(text: string): unknown },
): void {
  if (processRuntimeOff)
    say(
      `The process runtime is off, since ${processRuntimeOff}: PHASELINE_PROCESS_RUNTIME=on lets users run commands here.`,
    )
  if (processRuntime && exposed.length > 0)
    logger.warn(
      { settings: exposed },
      'workers and jobs of the process runtime can read these settings in the environment of the server: name files that hold them, with _FILE at the end of each name',
    )
}

function untilTold(): AbortSignal {
  const told = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => told.abort())
  return told.signal
}
