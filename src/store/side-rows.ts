import { awaitAll } from './await-all.ts'
import { binaryUuids } from './binary.ts'
import type { Client } from './client.ts'
import { array, uuid } from './column-types.ts'
import { CHILD_COUNT_COLUMNS, type DetailsColumns } from './columns.ts'
import { quoted, type RowColumn, RowStatement } from './rows.ts'
import { statement } from './statement.ts'
import type { WritableNode } from './transition.ts'

/** The rows beside an object's own, which no phase depends on: spec, child counts, status, details and edges. */

export const OBJECT_ID: RowColumn<WritableNode> = { column: 'object_id', type: 'uuid', of: ({ row }) => row.id }

/**
 * A side row of each object. New objects have none yet: a conflict check would cost as much as the row, and another
 * record in the WAL.
 */
class SideRow {
  readonly #insert: RowStatement<WritableNode>
  readonly #upsert: RowStatement<WritableNode>

  /** @param changed columns that may change after the creation; absent: all of them */
  constructor(
    name: string,
    table: string,
    columns: readonly RowColumn<WritableNode>[],
    changed: readonly { readonly column: string }[] = columns,
  ) {
    const set = changed.map(({ column }) => `"${column}" = excluded."${column}"`).join(', ')
    const statement = (name: string, onConflict: string) =>
      new RowStatement<WritableNode>(
        name,
        [OBJECT_ID, ...columns],
        ({ list, from }) =>
          `insert into "${table}" (object_id, ${quoted(columns)}) select ${list} from ${from} ${onConflict}`,
      )
    this.#insert = statement(`insert-${name}`, '')
    this.#upsert = statement(`write-${name}`, `on conflict (object_id) do update set ${set}`)
  }

  async write(client: Client, nodes: readonly WritableNode[]): Promise<void> {
    const known = nodes.filter(({ persisted }) => persisted)
    const fresh = known.length === 0 ? nodes : nodes.filter(({ persisted }) => !persisted)
    await awaitAll([
      fresh.length > 0 && client.query(this.#insert.of(fresh)),
      known.length > 0 && client.query(this.#upsert.of(known)),
    ])
  }
}

const SPEC_COLUMN = { column: 'spec', type: 'jsonb', of: ({ spec }: WritableNode) => spec }
const SPEC = new SideRow(
  'specs',
  'object_spec',
  [SPEC_COLUMN, { column: 'labels', type: 'jsonb', of: ({ labels }) => labels }],
  // A statement of its own changes labels.
  [SPEC_COLUMN],
)
export const writeSpecs = (client: Client, nodes: readonly WritableNode[]): Promise<void> => SPEC.write(client, nodes)

const CHILD_COUNTS = new SideRow(
  'tallies',
  'tally',
  CHILD_COUNT_COLUMNS.map((column) => ({
    column,
    type: 'integer',
    of: ({ childCounts }: WritableNode) => childCounts[column],
  })),
)
export const writeChildCounts = (client: Client, nodes: readonly WritableNode[]): Promise<void> =>
  CHILD_COUNTS.write(client, nodes)

const status = (name: string, set: string) =>
  new RowStatement<WritableNode>(
    name,
    [
      OBJECT_ID,
      { column: 'error', type: 'jsonb', of: ({ error }) => error },
      { column: 'progress', type: 'jsonb', of: ({ progress }) => progress ?? null },
    ],
    ({ list, from }) => `insert into object_status (object_id, error, progress) select ${list} from ${from}
      on conflict (object_id) do update set ${set}`,
  )
const STATUS = status('write-statuses', 'error = excluded.error, progress = excluded.progress')
const STATUS_ERROR_ONLY = status('write-errors', 'error = excluded.error')
export async function writeStatuses(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  // Progress that this transaction did not set was not loaded, and stays as it is.
  const withProgress = nodes.filter((n) => n.progress !== undefined)
  const errorOnly = nodes.filter((n) => n.progress === undefined)
  await awaitAll([
    withProgress.length > 0 && client.query(STATUS.of(withProgress)),
    errorOnly.length > 0 && client.query(STATUS_ERROR_ONLY.of(errorOnly)),
  ])
}

const CLOCK = new SideRow('clocks', 'clock', [
  { column: 'root_id', type: 'uuid', of: ({ row }) => row.rootId },
  { column: 'due_at', type: 'timestamptz', of: ({ clock }) => clock },
])
const DELETE_CLOCKS = statement({
  name: 'delete-clocks',
  text: 'delete from clock where object_id = any($1::uuid[])',
  params: [array(uuid)],
})
export async function writeClocks(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const set = nodes.filter(({ clock }) => clock)
  const ended = nodes.filter(({ clock, persisted }) => !clock && persisted)
  await awaitAll([
    set.length > 0 && CLOCK.write(client, set),
    ended.length > 0 && DELETE_CLOCKS.query(client, [binaryUuids(idsOf(ended))]),
  ])
}

const DETAILS = new WeakMap<DetailsColumns, SideRow>()

/** Inserts or replaces the side row of each object. */
export async function writeDetails(
  client: Client,
  table: DetailsColumns,
  nodes: readonly WritableNode[],
): Promise<void> {
  const row = DETAILS.get(table) ?? detailsRow(table)
  DETAILS.set(table, row)
  if (nodes.length > 0) await row.write(client, nodes)
}

const detailsRow = ({ table, columns }: DetailsColumns): SideRow =>
  new SideRow(
    table,
    table,
    Object.entries(columns).map(([property, column]) => ({
      ...column,
      of: ({ details }) => (details as Record<string, unknown>)[property],
    })),
  )

const DELETE_EDGES = statement({
  name: 'delete-edges',
  text: 'delete from edge where from_id = any($1::uuid[])',
  params: [array(uuid)],
})

const INSERT_EDGES = statement({
  name: 'insert-edges',
  text: 'insert into edge (from_id, to_id) select * from unnest($1::uuid[], $2::uuid[]) on conflict do nothing',
  params: [array(uuid), array(uuid)],
})

/** Replaces what each of these objects depends on. */
export async function writeEdges(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const persisted = nodes.filter((node) => node.persisted)
  const edges = nodes.flatMap((node) => (node.dependencies ?? []).map((to) => [node.row.id, to.row.id] as const))
  await awaitAll([
    persisted.length > 0 && DELETE_EDGES.query(client, [binaryUuids(idsOf(persisted))]),
    edges.length > 0 &&
      INSERT_EDGES.query(client, [binaryUuids(edges.map(([from]) => from)), binaryUuids(edges.map(([, to]) => to))]),
  ])
}

const idsOf = (nodes: readonly WritableNode[]): string[] => nodes.map(({ row }) => row.id)
