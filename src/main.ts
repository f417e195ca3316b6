import { statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import packageJson from '../package.json' with { type: 'json' }
import { createAudit } from './audit/index.ts'
import type { Config } from './config.ts'
import { judgeHealth } from './core/health.ts'
import { InFlight } from './core/in-flight.ts'
import type { PoolFacts } from './core/ports/measured.ts'
import type { System } from './core/ports/system.ts'
import type { Secret } from './core/secret.ts'
import { evaluateIn } from './engine/evaluate.ts'
import { kindsOf } from './engine/families.ts'
import { createEngineHost, type EngineHost } from './engine/index.ts'
import { createCommands } from './families/create-commands.ts'
import type { FamilyDefinition, FamilyWorker } from './families/define-family.ts'
import { families as ownFamilies } from './families/index.ts'
import { loadFamilies } from './families/load-families.ts'
import { createKindRegistry } from './graphql/family.ts'
import { createLive } from './graphql/log/live.ts'
import { OpenStreams } from './graphql/log/open-streams.ts'
import { buildSchema } from './graphql/schema.ts'
import { createHookPort } from './hooks/receive/hook-port.ts'
import { startRedeliverer } from './hooks/redeliver/redeliverer.ts'
import { createNumberer } from './log/numberer.ts'
import { createLog } from './log/reader.ts'
import type { Logger } from './logger.ts'
import { writeServedAddress } from './process/served-address.ts'
import { createSandbox } from './sandbox/index.ts'
import { loadSecretKeys } from './secret-keys.ts'
import { openAdmin } from './server/http/admin.ts'
import { Drain } from './server/limits/drain.ts'
import { createMetrics } from './server/operators/metrics.ts'
import { Readiness } from './server/operators/readiness.ts'
import { openAccess } from './start/access.ts'
import { administratorToken } from './start/administrator-token.ts'
import { startBuiltInAgents } from './start/built-in-agents.ts'
import { checkBinding } from './start/check-binding.ts'
import { adoptTokens } from './start/configured-tokens.ts'
import { logStart } from './start/log-start.ts'
import { startMaintenance } from './start/maintenance.ts'
import { openDatabase } from './start/open-database.ts'
import { type Gateway, openGateway } from './start/open-gateway.ts'
import { openReplica } from './start/open-replica.ts'
import { openTracing } from './start/open-tracing.ts'
import { MIGRATIONS_FOLDER } from './start/package-folder.ts'
import { servedOrigin } from './start/served-origin.ts'
import { openSignal } from './start/services.ts'
import { warnOfEditorTypes } from './start/warn-of-editor-types.ts'
import { warnOfNoAdministrator } from './start/warn-of-no-administrator.ts'
import { warnOfUnknownKeys } from './start/warn-of-unknown-keys.ts'
import { watchOwnToken } from './start/watch-own-token.ts'
import { createArtifacts } from './store/artifacts.ts'
import { awaitAll } from './store/await-all.ts'
import type { Client } from './store/client.ts'
import { startDatabaseClock } from './store/database-clock.ts'
import { DatabaseHealth } from './store/database-health.ts'
import { extendVocabulary } from './store/extend-vocabulary.ts'
import { FigureReader } from './store/figures.ts'
import { knownMigrations, migrate } from './store/migrate.ts'
import { ensureProject } from './store/projects.ts'
import { createSealing } from './store/sealing.ts'
import { catchUpSequences } from './store/sequences.ts'
import { WriteWatch } from './store/write-watch.ts'
import { type MovedTime, systemOf } from './system.ts'

/** The composition root: the only file that wires everything. */

const POOL_SIZE = 8
/** Connections of the trees' transactions: more than a few of them at once only wait for each other. */
const WRITERS = 4
/** Milliseconds that one of them waits for a lock. Lanes wait longer, without a connection. */
const WRITER_LOCK_TIMEOUT_MS = 1_000
/** Connections that read the log, so that a crowd of readers that comes back does not stop the work. */
const READERS = 4
/** Connections that read and write pieces of artifacts, so that they keep nobody else from the database. */
const TRANSFERS = 2
/** Milliseconds after which Postgres ends a question of the metrics. */
const FIGURES_TIMEOUT_MS = 2_000

/** Milliseconds that requests without clients get at most, when nothing more can begin. */
const ABANDONED_MS = 3_000

/** The process that `phaseline serve` has started. */
export interface RunningProcess extends AsyncDisposable {
  /** e.g. https://127.0.0.1:4000; null for a process without a gateway. */
  readonly origin: string | null
  /** e.g. http://127.0.0.1:9090; null: it has no port for operators. */
  readonly adminOrigin: string | null
  /** The administrator's; null when this process was given none. */
  readonly token: Secret | null
  /** Begins its end: it is not ready any more, and works on for as long as load balancers need to see it. Then dispose it. */
  drain(): Promise<void>
}
export interface App extends RunningProcess {
  readonly engineHost: EngineHost
  readonly system: System
  /** Wakes everything that waits for a time. */
  timeMoved(): void
  /** True if no worker of a family has anything to do before a time comes. */
  isAtRest(client: Client): Promise<boolean>
}
export interface AppOptions {
  readonly logger: Logger
  /** Besides those of the configuration. */
  readonly gadgetFolders?: readonly string[]
  /** Gives up starting: what was begun is ended, and `startApp` throws its reason. */
  readonly signal?: AbortSignal
  /** Instead of the product's own. */
  readonly families?: readonly FamilyDefinition[]
  /** For tests that move the time of the server. */
  readonly movedTime?: MovedTime
}

/**
 * Starts what the configuration says, in the order in which each part needs the others. Disposing ends it in reverse: agents, gateway,
 * pruners, engine with its transactions, what is left of requests whose clients have gone, audit, log, numberer, pools, an embedded Postgres. Nothing that ends needs
 * what has ended before it, and `serve` bounds the time of all of it.
 */
export async function startApp(
  config: Config,
  { logger, gadgetFolders = [], families: definitions = ownFamilies, signal: stop = NEVER, movedTime }: AppOptions,
): Promise<App> {
  checkBinding(config, logger)
  await using parts = new AsyncDisposableStack()
  parts.use(await openTracing(config, logger))
  const { roles, timeouts } = config
  const drain = new Drain()
  const readiness = new Readiness(drain)
  const { limits, trustedProxies, metricsToken } = config
  const admin =
    config.admin &&
    parts.use(await openAdmin({ ...config.admin, limits, trustedProxies, metricsToken, readiness, logger }))
  const [database, families] = await Promise.all([
    openDatabase(config, { logger, signal: stop }),
    loadFamilies(definitions),
  ])
  const { openPool } = parts.use(database)
  const pool = openPool(POOL_SIZE)
  const migrations = await knownMigrations(MIGRATIONS_FOLDER)
  const health = new DatabaseHealth({ pool, migrations, logger })
  const pools = new Map([['shared', pool]])
  const openWatchedPool = (name: string, max: number, options: Parameters<typeof openPool>[1] = {}) => {
    const opened = openPool(max, { ...options, name })
    health.watch(opened)
    pools.set(name, opened)
    return opened
  }
  await migrate(pool, MIGRATIONS_FOLDER, stop)
  await extendVocabulary(pool, families, migrations)
  await catchUpSequences(pool, logger)
  const clock = parts.use(await startDatabaseClock({ pool, logger }))
  const system = systemOf(clock, movedTime)
  await ensureProject(pool, 'default', system)
  const keys = await loadSecretKeys(config)
  const sealing = createSealing(
    keys.map((key) => key.reveal()),
    system,
  )
  const signal = parts.adopt(await openSignal(config, logger), (s) => s.close())
  const writes = parts.use(new WriteWatch(pool, signal, clock))
  const { tokens, logins } = parts.use(await openAccess({ families, pool, sealing, system, config, logger, writes }))
  const agents = families.flatMap((family) => family.agents)
  const administrator = await administratorToken(config)
  if (administrator) {
    await adoptTokens(pool, system, { administrator, config, agents, logger })
    parts.use(watchOwnToken({ pool, administrator, logger, writes }))
  }

  stop.throwIfAborted()
  const numberer = parts.use(createNumberer({ pool, signal, logger, writes }))
  const log = parts.use(await createLog({ pool: openWatchedPool('log', READERS), signal, logger, numberer }))
  const audit = parts.use(createAudit({ pool, system, signal, logger, writes }))
  const sandbox = parts.use(createSandbox({ logger }))
  // Requests whose clients have left: they fail once the engine has ended, and are noted in the audit.
  const inFlight = new InFlight()
  parts.defer(() => inFlight.idle(ABANDONED_MS))
  const kinds = kindsOf(families.map(({ rules }) => rules))
  const writing = {
    pool: openWatchedPool('trees', WRITERS, { planOnce: true, lockTimeoutMs: WRITER_LOCK_TIMEOUT_MS }),
    kinds,
    system,
    timeouts,
  }
  const engineHost = parts.use(
    createEngineHost({ parts: writing, evaluate: evaluateIn(sandbox), signal, log, logger, writes }),
  )
  log.onReplaced(() => engineHost.runner.forget())
  void parts.adopt(warnOfUnknownKeys({ pool, sealing, logger }), (warned) => warned)
  const { trees } = engineHost
  const commandParts = { trees, system, sandbox, pool, log, sealing, timeouts, editorTypes: config.editorTypes }
  const commands = createCommands(families, commandParts)
  const workers: FamilyWorker[] = []
  if (roles.has('engine')) {
    for (const family of families) await family.prepare?.({ pool, config })
    engineHost.startEngine(config)
    const machines = families.flatMap((family) => family.machines)
    const outstandingSql = families.map(({ graphql }) => `(${graphql.outstandingSql})`).join(' or ')
    for (const family of families) {
      const worker = family.startWorker?.(
        { ...commandParts, config, log, logger, writes, machines, outstandingSql },
        commands,
      )
      if (worker) workers.push(parts.use(worker))
    }
    parts.use(startRedeliverer({ ...commandParts, logger, networks: config.outgoing.networks }))
    for (const duty of startMaintenance({ pool, system, logger, writes }, config, machines)) parts.use(duty)
  }
  stop.throwIfAborted()
  // A connection of its own: Prometheus neither waits for others nor takes a connection from them.
  const figures = new FigureReader(openPool(1, { name: 'figures', statementTimeoutMs: FIGURES_TIMEOUT_MS }))
  const work = {
    version: packageJson.version,
    engine: engineHost.counts,
    pools: () => [...pools].map(([name, each]) => factsOf(name, each)),
    figures: () => figures.read(),
  }
  let gateway: Gateway | null = null
  if (roles.has('gateway')) {
    const graphql = families.map((family) => family.graphql)
    const answering = openWatchedPool('answers', POOL_SIZE, { statementTimeoutMs: config.limits.operationTimeoutMs })
    const opened = openReplica(config, { primary: answering, instance: () => log.instance, max: POOL_SIZE, logger })
    if (opened) {
      parts.use(opened)
      pools.set('replica', opened.pool)
    }
    const services = {
      ...commands,
      ...{ agents: engineHost.agents, kinds: createKindRegistry(graphql), log, tokens, audit, logger, system },
      ...{
        pool: answering,
        records: trees,
        replica: opened?.replica,
        live: createLive(answering),
        streams: new OpenStreams(),
        figures: work.figures,
        server: async () => ({
          ...{ checks: await readiness.check(), figures: await figures.read(), clockOffsetMs: clock.wallOffsetMs },
          ...{ certificateEnd: null, disk: config.databaseUrl ? null : await spaceOf(config.dataDir) },
        }),
      },
    }
    const schema = buildSchema(graphql)
    const artifacts = createArtifacts({
      ...config.artifacts,
      pool: openWatchedPool('artifacts', TRANSFERS, { statementTimeoutMs: config.limits.operationTimeoutMs }),
      system,
    })
    gateway = parts.use(
      await openGateway({
        config,
        schema,
        services,
        artifacts,
        hooks: createHookPort({ ...commandParts, triggers: commands.triggers }),
        logger,
        clock,
        work,
        logins,
        readiness,
        drain,
        inFlight,
      }),
    )
    // Beside the token, for commands on this machine.
    if (!config.databaseUrl) parts.use(await writeServedAddress(config.dataDir, await servedOrigin(gateway.origin)))
  }
  const measured = { log, agents: engineHost.agents, clock, work, gateway: null }
  admin?.show(gateway?.metrics ?? createMetrics({ ...measured, refusals: admin.refusals }), { tokens, audit })
  if (roles.has('gateway')) {
    await warnOfNoAdministrator(pool, config, logger)
    warnOfEditorTypes(config, logger)
  }
  const url = gateway ? `${gateway.agentsOrigin}/graphql` : config.agentsUrl
  if (roles.has('agents') && url && administrator) {
    const host = { config, gadgetFolders: [...config.gadgetFolders, ...gadgetFolders], url, administrator, logger }
    parts.use(await startBuiltInAgents(agents, host))
  } else if (roles.has('agents'))
    logger.warn(
      'the built-in agents are not started, since they need PHASELINE_TOKEN: set it, or leave agents out of PHASELINE_ROLES',
    )
  database.started()
  readiness.started(async () =>
    judgeHealth({ ...(await health.measure()), clockAgeMs: clock.ageMs, engine: engineHost.engineFacts }),
  )
  const origin = gateway?.origin ?? null
  await logStart({
    config,
    pool,
    migrations,
    epoch: log.stats.epoch,
    gateway: origin,
    admin: admin?.url ?? null,
    logger,
  })
  stop.throwIfAborted()
  parts.defer(database.closing)
  const running = parts.move()
  return {
    ...{ origin, adminOrigin: admin?.url ?? null, token: administrator, engineHost, system },
    timeMoved: () => writes.timeMoved(),
    isAtRest: async (client) =>
      (await awaitAll(workers.map((worker) => worker.isAtRest?.(client)))).every((one) => one !== false),
    drain() {
      drain.begin(config.drain)
      return delay(config.drain.delayMs)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const factsOf = (name: string, { totalCount, idleCount, waitingCount, options }: Pool): PoolFacts => ({
  ...{ name, open: totalCount, idle: idleCount, waiting: waitingCount, most: options.max },
})

/** Null: it cannot be read. */
const spaceOf = async (folder: string) => {
  const found = await statfs(folder).catch(() => null)
  return found && { freeBytes: found.bavail * found.bsize, bytes: found.blocks * found.bsize }
}

const NEVER = new AbortController().signal
