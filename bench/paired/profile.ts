import { join } from 'node:path'
import { cpuOfTree, postmasterOf } from '../cpu.ts'
import { startServer } from '../harness.ts'
import {
  countStatements,
  readStatements,
  readTables,
  type StatementCost,
  startCountingPostgres,
  type TableCost,
} from '../statements.ts'
import type * as trees from '../trees.ts'
import { warmUp } from '../workloads/tree.ts'
import type { Figures, Measure, Turn } from './turn.ts'

/** Statements and tables that cost less for a node, or for a small tree, are not listed. */
const LEAST_US = 2
const LEAST_WAL = 10
const LEAST_ROWS = 0.1

interface Shape {
  /** Trees at once. */
  readonly trees: number
  readonly items: number
  /** Runs that count: processor time is counted in steps of 10 ms. */
  readonly runs: number
  /** The figures are for one of these. */
  readonly per: 'node' | 'tree'
}

/** Everything is for a node of 20 × 200. */
export const measure: Measure = (turn) => measureShape(turn, { trees: 20, items: 200, runs: 6, per: 'node' })

export async function measureShape(turn: Turn, shape: Shape): Promise<Figures> {
  await using postgres = await startCountingPostgres()
  const databaseUrl = await postgres.createDatabase('profile')
  const { figures, units } = await runAll(turn, databaseUrl, shape)
  // The server has ended, and so its sessions have reported what they did to tables.
  return shape.per === 'node' ? { ...figures, ...tableFigures(await readTables(databaseUrl), units) } : figures
}

async function runAll(
  { checkout, env }: Turn,
  databaseUrl: string,
  shape: Shape,
): Promise<{ readonly figures: Figures; readonly units: number }> {
  const { runTrees } = (await import(join(checkout, 'bench/trees.ts'))) as typeof trees
  const postmaster = await postmasterOf(databaseUrl)
  await using server = await startServer({ checkout, env, databaseUrl })
  let units = 0
  const run = async (count: number, size: number): Promise<void> => {
    const { nodes } = await runTrees(server.client, count, size)
    units += shape.per === 'node' ? nodes : count
  }
  const read = async (): Promise<Record<'server' | 'others' | 'postgres', number>> => {
    const { cpuMs } = await server.read()
    return { server: cpuMs, others: cpuOfTree(server.pid) - cpuMs, postgres: cpuOfTree(postmaster) }
  }
  await warmUp(run)
  await countStatements(databaseUrl)
  const [before, uncounted] = [await read(), units]
  for (let n = 0; n < shape.runs; n++) await run(shape.trees, shape.items)
  const after = await read()
  const statements = await readStatements(databaseUrl)
  const counted = units - uncounted
  const own = statements.filter(({ isNested }) => !isNested)
  const total = (of: 'calls' | 'ms' | 'walBytes' | 'walRecords'): number =>
    own.reduce((sum, statement) => sum + statement[of], 0) / counted
  const figures = {
    'Postgres, µs of CPU': ((after.postgres - before.postgres) * 1_000) / counted,
    'server, µs of CPU': ((after.server - before.server) * 1_000) / counted,
    'agent and sandbox, µs of CPU': ((after.others - before.others) * 1_000) / counted,
    'WAL, bytes': total('walBytes'),
    'WAL, records': total('walRecords'),
    'statements, calls': total('calls'),
    'statements, µs': total('ms') * 1_000,
    ...statementFigures(statements, counted),
  }
  return { figures, units }
}

const statementFigures = (statements: readonly StatementCost[], units: number): Figures =>
  Object.fromEntries(
    statements
      .filter(({ ms }) => (ms * 1_000) / units >= LEAST_US)
      .flatMap(({ name, ms, walBytes }) => [
        [`${name}, µs`, (ms * 1_000) / units],
        ...(walBytes / units >= LEAST_WAL ? [[`${name}, WAL bytes`, walBytes / units]] : []),
      ]),
  ) as Figures

const tableFigures = (tables: readonly TableCost[], units: number): Figures =>
  Object.fromEntries(
    tables.flatMap(({ name, inserted, updated, hotUpdated, deleted }) =>
      [
        [`table ${name}, rows inserted`, inserted / units] as const,
        [`table ${name}, rows updated`, updated / units] as const,
        [`table ${name}, rows updated without an index`, hotUpdated / units] as const,
        [`table ${name}, rows deleted`, deleted / units] as const,
      ].filter(([, rows]) => rows >= LEAST_ROWS),
    ),
  )
