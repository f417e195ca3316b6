import type { Pool } from 'pg'
import { pino } from 'pino'
import { v7 } from 'uuid'
import { type Audit, createAudit } from '../../src/audit/index.ts'
import { InFlight } from '../../src/core/in-flight.ts'
import type { ServerFacts } from '../../src/core/judge-causes.ts'
import type { ClaimedItem, Report } from '../../src/core/ports/agents.ts'
import type { Signal } from '../../src/core/ports/signal.ts'
import type { System } from '../../src/core/ports/system.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { isAdministrator, PROJECT_ROLES } from '../../src/core/rights.ts'
import type { ObjectKind, Phase } from '../../src/core/vocabulary.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import { evaluateIn } from '../../src/engine/evaluate.ts'
import { kindsOf } from '../../src/engine/families.ts'
import { createEngineHost, type EngineHost, recoverStalled } from '../../src/engine/index.ts'
import { createCommands } from '../../src/families/create-commands.ts'
import { familyTokens } from '../../src/families/define-family.ts'
import type { DeploymentsCommands } from '../../src/families/deployments/commands/index.ts'
import type { SpecInput } from '../../src/families/deployments/rules/normalise.ts'
import type { EdgeCommands } from '../../src/families/edge/commands/index.ts'
import type { OperationsCommands } from '../../src/families/operations/commands/index.ts'
import type { PipelinesCommands } from '../../src/families/pipelines/commands/index.ts'
import { createTokens, type Tokens } from '../../src/graphql/auth/tokens.ts'
import type { FamilyServices } from '../../src/graphql/context.ts'
import { createKindRegistry } from '../../src/graphql/family.ts'
import { createLive } from '../../src/graphql/log/live.ts'
import { OpenStreams } from '../../src/graphql/log/open-streams.ts'
import { createLog } from '../../src/log/reader.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { insertPrincipal } from '../../src/store/principals.ts'
import { dueRoots } from '../../src/store/queue.ts'
import { createSealing, type Sealing } from '../../src/store/sealing.ts'
import type { Writes } from '../../src/store/write-watch.ts'
import { type Payload, payloadOf } from './ask.ts'
import { TestClock, TIMEOUTS } from './clock.ts'
import { MUTATIONS } from './documents.ts'
import { loaded, mutateWith } from './mutate.ts'
import { borrowDatabase, createTestDatabase } from './postgres.ts'
import { rulesHold } from './rules-hold.ts'
import { openSandbox } from './sandbox.ts'
import { viewerOf } from './viewers.ts'

export { TIMEOUTS }

export const SECRET_KEY = Buffer.alloc(32, 'k')

export const USER: Viewer = viewerOf('ADMIN')
export const DEPLOYER: Viewer = viewerOf('AGENT', { name: 'deployer', actor: 'DEPLOYER' })

/** A server without any trouble. */
export const QUIET_SERVER: ServerFacts = { checks: [], figures: {}, clockOffsetMs: 0, certificateEnd: null, disk: null }

/** An object as tests see it. */
export interface Seen {
  readonly id: string
  readonly name: string
  readonly kind: ObjectKind
  readonly phase: Phase
  readonly revision: number
  readonly generation: number
  readonly observedGeneration: number
  readonly jobId: string | null
  readonly finishedJobId: string | null
  readonly deletionRequestedAt: Date | null
  readonly error: { code: string; message: string; causes: { name: string; code: string }[]; causeCount: number } | null
}

/**
 * The rules on a real database, with a clock that only the test moves. No loop runs by itself: `settle` reconciles trees
 * until none is due, so the results do not depend on timing.
 */
export interface World extends AsyncDisposable {
  readonly pool: Pool
  readonly clock: TestClock
  readonly engineHost: EngineHost
  readonly signal: Signal
  /** The commands of all families. */
  readonly services: FamilyServices
  readonly commands: DeploymentsCommands
  readonly projects: FamilyServices['projects']
  readonly pipelines: PipelinesCommands
  readonly operations: OperationsCommands
  readonly edge: EdgeCommands
  readonly sealing: Sealing
  readonly tokens: Tokens
  readonly audit: Audit
  settle(): Promise<void>
  /** Throws if the database has refused a decision of the rules since the last call. The end of the world throws, too. */
  rulesHold(): void
  /** Roots that are due. */
  due(): Promise<readonly string[]>
  /** The periodic recovery of every engine. */
  recoverStalled(): Promise<void>
  /** Another process on the same database, which learns of writes by this. */
  second(writes?: Writes): Promise<EngineHost>
  /** Creates a root (reconciled unless an option says otherwise) and settles. Throws when it is refused. */
  create(name: string, spec: SpecInput, reconcile?: boolean): Promise<string>
  update(id: string, spec: SpecInput, reconcile?: boolean): Promise<void>
  reconcile(id: string, mode?: 'STANDARD' | 'IF_CHANGED' | 'FORCE'): Promise<void>
  remove(id: string, options?: { force?: boolean; withoutUninstall?: boolean }): Promise<void>
  cancel(id: string): Promise<void>
  ignore(id: string, ignored: boolean): Promise<void>
  setData(name: string, value: unknown): Promise<void>
  claim(max?: number, viewer?: Viewer, types?: readonly string[], leaseMs?: number): Promise<readonly ClaimedItem[]>
  /** Reports one; returns whether it changed a phase, or the type of the refusal. Settles. */
  report(report: Report, viewer?: Viewer): Promise<boolean | string>
  /** Claims everything there is and ends it well, again and again, until nothing is offered. Returns the names, in order. */
  work(answer?: (item: ClaimedItem) => Omit<Report, 'fence'>): Promise<readonly string[]>
  /** By path of names below a project's root; executions are named deploy-items. */
  see(...path: string[]): Promise<Seen>
  exists(...path: string[]): Promise<boolean>
  /** Phases that an object went through, from the log. */
  history(id: string): Promise<readonly Phase[]>
}

/** For processes without readers of the log. */
export const NO_LOG = { appended: () => {}, committed: () => {} }

export interface WorldOptions {
  /** In the place of the clock that only the test moves. */
  readonly system?: System
  /** For a test that changes the schema, or reads the plans of its connections. */
  readonly ownDatabase?: boolean
  /** How long a command waits for its tree or its project. */
  readonly laneWaitMs?: number
  /** The setting of this name. */
  readonly editorTypes?: readonly string[]
}

export async function createWorld({
  system,
  ownDatabase = false,
  laneWaitMs,
  editorTypes = [],
}: WorldOptions = {}): Promise<World> {
  const database = await (ownDatabase ? createTestDatabase() : borrowDatabase())
  const { pool } = database
  const clock = new TestClock()
  const given = system ?? clock
  const errors: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void errors.push(line) })
  const sandbox = openSandbox()
  const signal = createMemorySignal({ logger })
  const kinds = kindsOf(loaded.map(({ rules }) => rules))
  const waiting = laneWaitMs === undefined ? {} : { laneWaitMs }
  const parts = { pool, kinds, system: given, timeouts: TIMEOUTS, ...waiting }
  const log = await createLog({ pool, signal, logger })
  const drive = (writes?: Writes) =>
    createEngineHost({ parts, evaluate: evaluateIn(sandbox), signal, log, logger, ...(writes && { writes }) })
  const engineHost = drive()
  const sealing = createSealing([SECRET_KEY], given)
  const { trees } = engineHost
  const familyParts = {
    ...{ trees, sandbox, system: given, pool, log, sealing, timeouts: TIMEOUTS },
    editorTypes: new Set(editorTypes),
  }
  const services = createCommands(loaded, familyParts)
  const { deployments: commands, projects, pipelines, operations, edge } = services
  const audit = createAudit({ pool, system: given, signal, logger })
  const tokens = createTokens(pool, given, familyTokens(loaded, { pool, sealing }))
  await pool.query(
    'insert into project (id, name, created_at, updated_at) values ($1, $2, now(), now()) on conflict do nothing',
    [v7(), 'default'],
  )
  for (const viewer of [USER, DEPLOYER]) await addPrincipal(pool, viewer)

  const due = async () => (await dueRoots(pool, { time: given.fixedTime, limit: 100, loneKinds: [] })).rootIds
  const settle = async () => {
    for (let found = await due(); found.length > 0; found = await due())
      for (const rootId of found) await engineHost.runner.reconcile(rootId, false)
  }
  const api = mutateWith({
    pool,
    records: trees,
    log,
    live: createLive(pool),
    streams: new OpenStreams(),
    tokens,
    audit,
    figures: async () => ({}),
    server: async () => QUIET_SERVER,
    kinds: createKindRegistry(loaded.map(({ graphql }) => graphql)),
    agents: engineHost.agents,
    system: given,
    logger,
    ...services,
  })
  /** Throws when it is refused. */
  const done = async <T extends { readonly message?: string | undefined }>(
    document: TypedDocument<{ readonly answer: T | null }, never>,
    input: object,
  ): Promise<Payload<T>> => {
    const payload = payloadOf(await api.mutate(document, input, USER))
    await settle()
    return payload
  }

  const world: World = {
    pool,
    clock,
    engineHost,
    signal,
    services,
    commands,
    projects,
    pipelines,
    operations,
    edge,
    sealing,
    tokens,
    audit,
    settle,
    due,
    recoverStalled: () => recoverStalled({ ...parts, logger, inFlight: new InFlight() }),
    second: async (writes) => drive(writes),
    create: async (name, spec, reconcile = true) =>
      (await done(MUTATIONS.createInstallation, { name, spec, reconcile })).id,
    update: async (id, spec, reconcile = true) =>
      void (await done(MUTATIONS.updateInstallation, { id, spec, reconcile })),
    reconcile: async (id, mode = 'STANDARD') => void (await done(MUTATIONS.reconcileInstallation, { id, mode })),
    remove: async (id, { force = false, withoutUninstall = false } = {}) =>
      void (await done(MUTATIONS.deleteInstallation, { id, force, withoutUninstall })),
    cancel: async (id) => void (await done(MUTATIONS.cancelInstallation, { id })),
    ignore: async (id, ignored) => void (await done(MUTATIONS.updateInstallation, { id, ignored, reconcile: false })),
    setData: async (name, value) => void (await done(MUTATIONS.setDataObject, { project: 'default', name, value })),
    async claim(max = 500, viewer = DEPLOYER, types = ['mock'], leaseMs = 30_000) {
      const items = await api.claim({ instance: 'test', types, max, leaseMs }, viewer)
      await settle()
      return items
    },
    async report(report, viewer = DEPLOYER) {
      const result = await api.report(report, viewer)
      await settle()
      return result
    },
    async work(answer = succeed) {
      const names: string[] = []
      for (let items = await world.claim(); items.length > 0; items = await world.claim()) {
        for (const item of items) {
          names.push(item.name)
          await world.report({ fence: item.fence, ...answer(item) })
        }
      }
      return names
    },
    async see(...path) {
      const found = await find(pool, path)
      if (!found) throw new Error(`there is no ${path.join('/')}`)
      return found
    },
    exists: async (...path) => (await find(pool, path)) !== null,
    async history(id) {
      const { rows } = await pool.query<{ to: Phase }>(
        'select "to" from phase_change where object_id = $1 and revision is not null order by batch_id, idx',
        [id],
      )
      return rows.map((row) => row.to)
    },
    async [Symbol.asyncDispose]() {
      await audit[Symbol.asyncDispose]()
      await log[Symbol.asyncDispose]()
      await engineHost[Symbol.asyncDispose]()
      await signal.close()
      await database[Symbol.asyncDispose]()
      world.rulesHold()
    },
    rulesHold: () => rulesHold(errors.splice(0).join('')),
  }
  return world
}

/** Puts the principal of a made-up viewer into the database, so that it has a name there. */
export async function addPrincipal(pool: Pool, viewer: Viewer): Promise<void> {
  const { principalId: id, name, actor } = viewer
  const grants = viewer.grants.flatMap(({ role, projectId }) => {
    const ofProject = PROJECT_ROLES.find((one) => one === role)
    return ofProject ? [{ role: ofProject, projectId }] : []
  })
  const rights = { administrator: isAdministrator(viewer), grants, types: null, targets: null, identity: null }
  await insertPrincipal(pool, { ...rights, id, name, actor, createdAt: new Date(0) })
}

export const succeed = (item: ClaimedItem): Omit<Report, 'fence'> => ({
  phase: item.action === 'DELETE' ? 'GONE' : 'SUCCEEDED',
})

async function find(pool: Pool, path: readonly string[]): Promise<Seen | null> {
  let parent: string | null = null
  let found: Seen | null = null
  for (const name of path) {
    const { rows }: { rows: Seen[] } = await pool.query(
      `select o.id, o.name, o.kind, o.phase, o.revision, o.generation, o.observed_generation as "observedGeneration",
         o.job_id as "jobId", o.finished_job_id as "finishedJobId", o.deletion_requested_at as "deletionRequestedAt", s.error
       from object o left join object_status s on s.object_id = o.id
       where o.parent_id is not distinct from $1::uuid and o.name = $2`,
      [parent, name],
    )
    found = rows[0] ?? null
    if (!found) return null
    parent = found.id
  }
  return found
}

export const item = (name: string, dependsOn: readonly string[] = [], config: unknown = {}) => ({
  name,
  type: 'mock',
  dependsOn,
  config,
})
