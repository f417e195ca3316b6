import { pino } from 'pino'
import { expect } from 'vitest'
import type { Refusal } from '../../src/core/errors.ts'
import type { ObjectKind, Phase } from '../../src/core/vocabulary.ts'
import { evaluateIn } from '../../src/engine/evaluate.ts'
import { kindsOf } from '../../src/engine/families.ts'
import { createEngineHost, type EngineHost } from '../../src/engine/index.ts'
import { bindDeployments, type DeploymentsCommands } from '../../src/families/deployments/commands/index.ts'
import type { ItemInput, SpecInput } from '../../src/families/deployments/rules/normalise.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { loaded } from './mutate.ts'
import { openSandbox } from './sandbox.ts'
import { NO_LOG, TIMEOUTS, USER, type World } from './world.ts'

/** Short forms of specs, and queries of the store and the log about a tree of installations. */

export const EXECUTION = 'deploy-items'
export const JOB = ['INIT', 'CLEANUP_ORPHANED', 'OBJECTS_CREATED', 'PROGRESSING', 'COMPLETING', 'SUCCEEDED'] as const

/** As written in a spec: `${…}`. */
export const expr = (source: string): string => `\${${source}}`
export const nested = (name: string, spec: SpecInput) => ({ name, spec })
/** The report of a deployer that could not deploy an item. */
export const FAILED = { phase: 'FAILED', error: { code: 'BROKEN', message: 'It broke.', retryable: false } } as const

/** An installation with one item, `make`, whose exports become its own. */
export const exporter = (...names: readonly string[]): SpecInput => ({
  exports: names.map((name) => ({ name, value: expr(`deployItems.make.exports.${name}`) })),
  deployItems: [{ name: 'make', type: 'mock' }],
})
/** An installation with one item, `use`, that gets what is imported. */
export const importer = (...names: readonly string[]): SpecInput => ({
  imports: names.map((name) => ({ name })),
  deployItems: [using('use', names)],
})
export const using = (name: string, imports: readonly string[], dependsOn: readonly string[] = []): ItemInput => ({
  name,
  type: 'mock',
  dependsOn,
  config: Object.fromEntries(imports.map((i) => [i, expr(`imports.${i}`)])),
})

export const specOf = (world: World, name: string, spec: SpecInput, project = 'default') =>
  world.commands.createInstallation(USER, { project, name, spec, reconcile: true })

/** The refusal; fails when it was accepted. */
export async function refusal(
  outcome: Promise<{ ok: true } | { ok: false; refusal: Refusal }>,
): Promise<Refusal & { readonly fields: readonly { path: string; message: string }[] }> {
  const result = await outcome
  if (result.ok) throw new Error('it was accepted')
  return { fields: [], ...result.refusal }
}

export interface Entry {
  readonly objectId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly from: Phase | null
  readonly to: Phase
  readonly jobId: string | null
  readonly reason: string | null
}
/** The records of a tree, in their order, without refusals. */
export async function changesOf(world: World, rootId: string): Promise<readonly Entry[]> {
  const { rows } = await world.pool.query<Entry>(
    `select object_id as "objectId", kind, name, "from", "to", job_id as "jobId", reason from phase_change
     where root_id = $1 and revision is not null order by batch_id, idx`,
    [rootId],
  )
  return rows
}

/** The names of the objects that reached a phase, in order. */
export const reached = (entries: readonly Entry[], to: Phase, kind?: ObjectKind): readonly string[] =>
  entries.filter((e) => e.to === to && (!kind || e.kind === kind)).map((e) => e.name)

export interface InstallationColumns {
  readonly mode: string
  readonly nextMode: string | null
  readonly nextDeletion: boolean
  readonly imports: Readonly<Record<string, unknown>> | null
  readonly exports: Readonly<Record<string, unknown>> | null
}
export async function columnsOf(world: World, id: string): Promise<InstallationColumns> {
  const { rows } = await world.pool.query<InstallationColumns>(
    `select mode, next_mode as "nextMode", next_deletion as "nextDeletion", imports, exports
     from installation where object_id = $1`,
    [id],
  )
  const [row] = rows
  if (!row) throw new Error(`there is no installation ${id}`)
  return row
}

/** Value and exporter of a name in the project's scope; null: nothing of that name. */
export async function dataOf(world: World, name: string): Promise<{ value: unknown } | null> {
  const { rows } = await world.pool.query<{ value: unknown }>('select value from data_object where name = $1', [name])
  return rows[0] ?? null
}

/** Tables with history and the audit, and with rows that answer repeated requests for a day. */
const KEPT: readonly string[] = ['log_content', 'log_object', 'log_batch', 'work', 'idempotency_key', 'audit_event']

/** Rows of a tree in every table of the database that has a column for ids, by table; those with none are left out. */
export async function rowsOf(world: World, rootId: string): Promise<Record<string, number>> {
  const { pool } = world
  const objects = await pool.query<{ id: string }>(
    'select object_id as id from phase_change where root_id = $1 union select id from object where root_id = $1',
    [rootId],
  )
  const columns = await pool.query<{ table: string; column: string; type: string }>(
    `select c.table_name as "table", c.column_name as "column", c.udt_name as type
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.udt_name in ('uuid', '_uuid')`,
  )
  expect(columns.rows.length).toBeGreaterThan(20)
  const found: Record<string, number> = {}
  for (const { table, column, type } of columns.rows) {
    if (KEPT.includes(table)) continue
    const condition = type === 'uuid' ? `"${column}" = any($1::uuid[])` : `"${column}" && $1::uuid[]`
    const ids = objects.rows.map(({ id }) => id)
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::integer as n from "${table}" where ${condition}`,
      [ids],
    )
    const n = rows[0]?.n ?? 0
    if (n > 0) found[table] = Math.max(found[table] ?? 0, n)
  }
  return found
}

/** Every row of every table, so that two moments can be compared. Events of the audit get their places behind the commit. */
export async function everything(world: World): Promise<Record<string, unknown>> {
  const tables = await world.pool.query<{ table: string }>(
    `select table_name as "table" from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  )
  const all: Record<string, unknown> = {}
  for (const { table } of tables.rows) {
    const row = table === 'audit_event' ? "to_jsonb(t) - 'sequence' - 'hash'" : 'to_jsonb(t)'
    const { rows } = await world.pool.query<{ row: unknown }>(`select ${row} as row from "${table}" t order by 1`)
    all[table] = rows.map(({ row }) => row)
  }
  return all
}

export interface Driver extends AsyncDisposable {
  readonly engineHost: EngineHost
  readonly commands: DeploymentsCommands
}
/**
 * Another process, as far as the database can tell: its own transactions on the same trees, at the same time.
 * @param meanwhile runs each time between the transaction that asks for expressions or schemas and the one that knows them
 */
export async function anotherDriver(world: World, meanwhile = async () => {}): Promise<Driver> {
  const logger = pino({ level: 'fatal' })
  const sandbox = openSandbox()
  const signal = createMemorySignal({ logger })
  const { pool, clock } = world
  const parts = { pool, kinds: kindsOf(loaded.map(({ rules }) => rules)), system: clock, timeouts: TIMEOUTS }
  const inSandbox = evaluateIn(sandbox)
  const evaluate: typeof inSandbox = async (evaluations, projectId) => {
    await meanwhile()
    return inSandbox(evaluations, projectId)
  }
  const engineHost = createEngineHost({ parts, evaluate, signal, log: NO_LOG, logger })
  return {
    engineHost,
    commands: bindDeployments({
      ...{ trees: engineHost.trees, sandbox, system: clock, pool, sealing: world.sealing },
      editorTypes: new Set<string>(),
    }),
    async [Symbol.asyncDispose]() {
      await engineHost[Symbol.asyncDispose]()
      await signal.close()
    },
  }
}
