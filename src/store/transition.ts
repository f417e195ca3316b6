import type { ObjectFailure } from '../core/errors.ts'
import type { ChildCounts, ObjectRow, Work } from '../core/tree.ts'
import type { Phase } from '../core/vocabulary.ts'
import { awaitAll } from './await-all.ts'
import { binaryUuids } from './binary.ts'
import type { Client } from './client.ts'
import { array, uuid } from './column-types.ts'
import { CHILD_COUNT_COLUMNS, OBJECT_COLUMNS, WORK_COLUMNS } from './columns.ts'
import { type ChangeColumn, ChangeStatement, properties, quoted, type RowColumn, RowStatement } from './rows.ts'
import { statement } from './statement.ts'

/** The only writer of objects and their phases. Set-based: one statement for each table and transition, whatever the number of objects. */

export interface WritableNode {
  readonly row: ObjectRow
  readonly childCounts: ChildCounts
  readonly work: Work | null
  readonly error: ObjectFailure | null
  readonly progress: unknown
  readonly details: unknown
  readonly spec: unknown
  readonly labels: Readonly<Record<string, string>>
  readonly dependencies: readonly { readonly row: { readonly id: string } }[] | null
  readonly gone: boolean
  readonly persisted: boolean
  /** As the store has them, or will have once the statements that were sent are executed. */
  readonly persistedRow: ObjectRow
  readonly persistedWork: Work | null
  readonly pendingTransitions: readonly { readonly phase: Phase; readonly at: Date; readonly revision: number }[]
  readonly offered: boolean
}
export interface DetailsColumns {
  readonly table: string
  readonly columns: Readonly<Record<string, { readonly column: string; readonly type: string }>>
}

/** Another writer changed the object meanwhile, which the root's lock rules out for our own writers. */
export class RevisionConflict extends Error {
  constructor(expected: number, written: number) {
    super(`${expected - written} of ${expected} objects were changed by another writer: the transaction starts over`)
    this.name = 'RevisionConflict'
  }
}

const ID: RowColumn<WritableNode> = { column: 'object_id', type: 'uuid', of: (node) => node.row.id }

const INSERT = new RowStatement<ObjectRow>(
  'insert-objects',
  properties(OBJECT_COLUMNS),
  ({ list, from }) => `insert into object (${quoted(OBJECT_COLUMNS)}) select ${list} from ${from}`,
)

/** Inserts new objects in the phase that they have reached within this transaction. */
export async function insertObjects(client: Client, rows: readonly ObjectRow[]): Promise<void> {
  if (rows.length === 0) return
  await client.query(INSERT.of(rows))
}

const MUTABLE = OBJECT_COLUMNS.filter(
  ({ property }) => !['id', 'rootId', 'parentId', 'projectId', 'kind', 'name', 'createdAt'].includes(property),
)
const UPDATE = new ChangeStatement<PendingUpdate>(
  'update-objects',
  [
    { column: 'id', type: 'uuid', of: ({ row }) => row.id },
    { column: 'expected', type: 'integer', of: ({ before }) => before.revision },
  ],
  properties<ObjectRow>(MUTABLE).map(
    ({ of, ...column }): ChangeColumn<PendingUpdate> => ({
      ...column,
      of: ({ row }) => of(row),
      before: ({ before }) => of(before),
    }),
  ),
  (set, { at, from, hint }) =>
    `update object o set ${set} from ${from} where ${hint} and o.id = u.id and o.revision = ${at('expected')}`,
)

/**
 * Compare-and-swap on the revision, one wave for each transition, so that the database checks each phase change as it
 * happened. All waves are sent at once.
 */
export async function updateObjects(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const longest = nodes.reduce((most, node) => Math.max(most, node.pendingTransitions.length), 1)
  const waves = Array.from({ length: longest }, (_, wave) => nodes.flatMap((node) => rowAfter(node, wave) ?? []))
  await awaitAll(waves.map((wave) => updatePending(client, wave)))
}

interface PendingUpdate {
  readonly before: ObjectRow
  readonly row: ObjectRow
}

function rowAfter(node: WritableNode, wave: number): PendingUpdate | null {
  const { pendingTransitions, row, persistedRow } = node
  if (wave > 0 && wave >= pendingTransitions.length) return null
  const at = (pending: WritableNode['pendingTransitions'][number] | undefined): ObjectRow =>
    pending ? { ...row, phase: pending.phase, phaseSince: pending.at, revision: pending.revision } : persistedRow
  const before = at(pendingTransitions[wave - 1])
  if (wave >= pendingTransitions.length - 1) return { before, row }
  return { before, row: at(pendingTransitions[wave]) }
}

async function updatePending(client: Client, waves: readonly PendingUpdate[]): Promise<void> {
  const statement = UPDATE.of(waves)
  if (!statement) return
  const { rowCount } = await client.query(statement)
  if (rowCount !== waves.length) throw new RevisionConflict(waves.length, rowCount ?? 0)
}

const DELETE_OBJECTS = statement({
  name: 'delete-objects',
  text: 'delete from object where id = any($1::uuid[])',
  params: [array(uuid)],
})

/** Foreign keys and triggers delete their other rows and their log lines. */
export async function deleteObjects(client: Client, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { rowCount } = await DELETE_OBJECTS.query(client, [ids])
  if (rowCount !== ids.length) throw new RevisionConflict(ids.length, rowCount ?? 0)
}

/**
 * A side row of each object. New objects have none yet: to look for a conflict costs as much as the row, and another
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
        [ID, ...columns],
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
      ID,
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

const ofWork = ({ of, ...column }: RowColumn<Work>): ChangeColumn<WritableNode> => ({
  ...column,
  of: ({ work }) => of(work as Work),
  before: ({ persistedWork }) => of(persistedWork as Work),
})
const WORK = properties<Work>(WORK_COLUMNS).map(ofWork)
const OFFERED = { column: 'offered', type: 'boolean', of: ({ offered }: WritableNode) => offered }

const insertWork = (name: string, onConflict: string) =>
  new RowStatement<WritableNode>(
    name,
    [ID, { column: 'root_id', type: 'uuid', of: ({ row }) => row.rootId }, OFFERED, ...WORK],
    ({ at, from }) => `insert into work (object_id, root_id, seq, ${quoted(WORK)})
      select ${at('object_id')}, ${at('root_id')}, case when ${at('offered')} then nextval('work_seq') else 0 end,
        ${WORK.map(({ column }) => at(column)).join(', ')}
      from ${from} ${onConflict}`,
  )
const INSERT_WORK = insertWork('insert-work', '')
const OFFER_WORK = insertWork(
  'offer-work',
  `on conflict (object_id) do update set seq = excluded.seq, ${WORK.map(({ column }) => `"${column}" = excluded."${column}"`).join(', ')}`,
)
const updateWork = (name: string, columns: typeof WORK) =>
  new ChangeStatement<WritableNode>(
    name,
    [ID],
    columns,
    (set, { from, hint }) => `update work w set ${set} from ${from} where ${hint} and w.object_id = u.object_id`,
  )
const UPDATE_WORK = updateWork('update-work', WORK)
/** Its variant for any rows writes all of its columns, too, so the lease must not be one of them. */
const UPDATE_LEASED_WORK = updateWork(
  'update-leased-work',
  WORK.filter(({ column }) => column !== 'lease_until'),
)

/** Work that is offered anew gets the next places in the agents' queue, in the order of the nodes. */
export async function writeWork(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const placed = nodes.filter(({ persistedWork, offered }) => offered || !persistedWork)
  const known = nodes.filter(({ persistedWork, offered }) => persistedWork && !offered)
  const areNew = placed.every(({ persistedWork }) => !persistedWork)
  await awaitAll([
    placed.length > 0 && client.query((areNew ? INSERT_WORK : OFFER_WORK).of(placed)),
    changeWork(
      client,
      UPDATE_LEASED_WORK,
      known.filter((node) => !changesLease(node)),
    ),
    changeWork(client, UPDATE_WORK, known.filter(changesLease)),
  ])
}

// Renewals change leases without a revision: a write that does not change the lease must not overwrite a renewed one.
const changesLease = ({ work, persistedWork }: WritableNode): boolean => work?.leaseUntil !== persistedWork?.leaseUntil

async function changeWork(
  client: Client,
  update: ChangeStatement<WritableNode>,
  nodes: readonly WritableNode[],
): Promise<void> {
  const changed = nodes.filter((node) => node.work !== node.persistedWork)
  const statement = update.of(changed)
  if (!statement) return
  const { rowCount } = await client.query(statement)
  if (rowCount !== changed.length) throw new RevisionConflict(changed.length, rowCount ?? 0)
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
