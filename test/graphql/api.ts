import { type ExecutionResult, graphql } from 'graphql'
import type { Pool } from 'pg'
import { pino } from 'pino'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import { createToken, revokeToken } from '../../src/graphql/auth/principal-commands.ts'
import type { CreateToken } from '../../src/graphql/auth/principal-input.ts'
import { createKindRegistry } from '../../src/graphql/family.ts'
import { createLive } from '../../src/graphql/log/live.ts'
import { OpenStreams } from '../../src/graphql/log/open-streams.ts'
import { createContext, type GraphQLServices } from '../../src/graphql/resolver-context.ts'
import { numberBatches } from '../../src/log/number-batches.ts'
import { createNumberer } from '../../src/log/numberer.ts'
import { createLog } from '../../src/log/reader.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { createServer, type RunningServer, type ServerOptions } from '../../src/server/server.ts'
import { createArtifacts } from '../../src/store/artifacts.ts'
import { FigureReader } from '../../src/store/figures.ts'
import { ensureProject } from '../../src/store/projects.ts'
import { listTokens } from '../../src/store/tokens.ts'
import { loaded, schema } from '../testkit/mutate.ts'
import { createWorld, QUIET_SERVER, USER, type World } from '../testkit/world.ts'

/** A mutation without variables, of which a test only wants to know which type its result has. */
export type Call = TypedDocument<
  { readonly answer: { readonly __typename: string } | null },
  Readonly<Record<string, never>>
>

/** The API over a world, with the real server when a test wants it. */
export interface Api extends AsyncDisposable {
  readonly world: World
  readonly services: GraphQLServices
  /** Executes in process as this viewer; throws when there are errors. */
  query<R = unknown, V = object>(document: TypedDocument<R, V>, variables?: NoInfer<V>, viewer?: Viewer): Promise<R>
  execute(document: string, variables?: object, viewer?: Viewer): Promise<ExecutionResult>
  /** How many statements a run sends to the database. */
  statements(run: () => Promise<unknown>): Promise<number>
  /** Holds the next statement of this name until it is released. */
  hold(name: string): HeldStatement
  serve(
    config?: Partial<ServerOptions['config']> &
      Partial<Pick<ServerOptions, 'dashboardFolder' | 'documentationFolder' | 'documents' | 'loopback'>>,
  ): Promise<RunningServer>
  /** A token's secret: the administrator's, unless it says something else. Its projects are created if there are none. */
  token(token?: Partial<CreateToken>): Promise<string>
  /** Revokes the token of this name. */
  revoke(name: string): Promise<void>
}

export interface HeldStatement {
  /** Resolves once it is held. */
  readonly reached: Promise<void>
  release(): void
}

export async function createApi(): Promise<Api> {
  const world = await createWorld()
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' })
  const signal = createMemorySignal({ logger })
  const numberer = createNumberer({ pool: world.pool, signal, logger })
  const log = await createLog({ pool: world.pool, signal, logger, numberer })
  const holds = new Map<unknown, () => Promise<void>>()
  const counting = countStatements(world.pool, (name) => {
    const held = holds.get(name)
    holds.delete(name)
    return held?.()
  })
  const { pool } = counting
  const figures = new FigureReader(world.pool)
  const services: GraphQLServices = {
    pool,
    records: world.engineHost.trees,
    log,
    live: createLive(pool),
    streams: new OpenStreams(),
    tokens: world.tokens,
    audit: world.audit,
    figures: () => figures.read(),
    server: async () => QUIET_SERVER,
    kinds: createKindRegistry(loaded.map(({ graphql }) => graphql)),
    agents: world.engineHost.agents,
    system: world.clock,
    logger,
    ...world.services,
  }
  const servers: RunningServer[] = []
  const execute = (source: string, variables: object = {}, viewer: Viewer = USER) =>
    graphql({
      schema,
      source,
      variableValues: variables as Record<string, unknown>,
      contextValue: createContext(services, viewer),
    })
  return {
    world,
    services,
    execute,
    async query<R>(document: TypedDocument<R, never>, variables?: unknown, viewer?: Viewer) {
      // Numbers all committed changes, so that the log has them at once.
      while ((await numberBatches(world.pool)) !== null);
      const { data, errors } = await execute(document.valueOf(), variables as object, viewer)
      if (errors) throw new Error(errors.map((error) => error.stack ?? error.message).join('\n'))
      return data as R
    },
    async statements(run) {
      const before = counting.count()
      await run()
      return counting.count() - before
    },
    hold(name) {
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      holds.set(name, () => {
        reached.resolve()
        return released.promise
      })
      return { reached: reached.promise, release: released.resolve }
    },
    async serve({ dashboardFolder, documentationFolder, documents, loopback = null, ...config } = {}) {
      const server = await createServer({
        ...(dashboardFolder === undefined ? {} : { dashboardFolder }),
        ...(documentationFolder === undefined ? {} : { documentationFolder }),
        ...(documents === undefined ? {} : { documents }),
        config: { port: 0, host: '127.0.0.1', allowedHosts: [], allowedOrigins: [], ...config },
        loopback,
        schema,
        services,
        artifacts: createArtifacts({
          pool: world.pool,
          system: world.clock,
          retentionMs: null,
          quotaBytes: 2 ** 30,
          cacheBytes: 2 ** 30,
        }),
        logger,
      })
      servers.push(server)
      return server
    },
    async token(token = {}) {
      for (const name of token.projects ?? []) await ensureProject(world.pool, name, world.clock)
      const created = await createToken({ ...services, viewer: USER }, { name: 'ada', role: 'ADMIN', ...token })
      if (!created.ok) throw new Error(created.refusal.message)
      return created.secret
    },
    async revoke(name) {
      const window = { limit: 100, backward: false, after: null, before: null }
      const tokens = await listTokens(world.pool, { projects: null, nameContains: name }, window)
      const found = tokens.find((token) => token.name === name)
      await revokeToken({ ...services, viewer: USER }, found?.id ?? '')
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.close()
      await log[Symbol.asyncDispose]()
      await numberer[Symbol.asyncDispose]()
      await signal.close()
      await world[Symbol.asyncDispose]()
    },
  }
}

/** The same pool, with every statement counted, those of transactions included. One waits for what `held` returns for its name. */
function countStatements(
  pool: Pool,
  held: (name: unknown) => Promise<void> | undefined,
): { readonly pool: Pool; count(): number } {
  let count = 0
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, property) {
        const value: unknown = Reflect.get(object, property)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (property === 'query') count += 1
          const waits = property === 'query' && held((args[0] as { readonly name?: string }).name)
          if (waits) return waits.then(() => value.apply(object, args))
          const result: unknown = value.apply(object, args)
          return property === 'connect' ? (result as Promise<object>).then(counted) : result
        }
      },
    })
  return { pool: counted(pool), count: () => count }
}
