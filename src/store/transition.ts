import type { ObjectFailure } from '../core/errors.ts'
import type { ObjectRow, Tally, Work } from '../core/tree.ts'
import type { Phase } from '../core/vocabulary.ts'
import { binaryUuids } from './binary.ts'
import type { Client } from './client.ts'
import { OBJECT_COLUMNS, TALLY_COLUMNS, WORK_COLUMNS } from './columns.ts'
import { type ChangeColumn, ChangeStatement, properties, quoted, type RowColumn, RowStatement } from './rows.ts'
import { together } from './together.ts'

/** The only writer of objects and their phases. Set-based: one statement for each table and hop, whatever the number of objects. */

export interface WritableNode {
  readonly row: ObjectRow
  readonly tally: Tally
  readonly work: Work | null
  readonly error: ObjectFailure | null
  readonly progress: unknown
  readonly facts: unknown
  readonly spec: unknown
  readonly labels: Readonly<Record<string, string>>
  readonly dependencies: readonly { readonly row: { readonly id: string } }[] | null
  readonly gone: boolean
  readonly stored: boolean
  /** As the store has them, or will have once it has what was sent to it. */
  readonly storedRow: ObjectRow
  readonly storedWork: Work | null
  readonly hops: readonly { readonly phase: Phase; readonly at: Date; readonly revision: number }[]
  readonly offered: boolean
}
export interface FactsColumns {
  readonly table: string
  readonly columns: Readonly<Record<string, { readonly column: string; readonly type: string }>>
}

/** Somebody else wrote the object meanwhile, which the root's lock rules out for our own writers. */
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

/** As far on from their machine's initial phase as they have come. */
export async function insertObjects(client: Client, rows: readonly ObjectRow[]): Promise<void> {
  if (rows.length === 0) return
  await client.query(INSERT.of(rows))
}

const MUTABLE = OBJECT_COLUMNS.filter(
  ({ property }) => !['id', 'rootId', 'parentId', 'projectId', 'kind', 'name', 'createdAt'].includes(property),
)
const UPDATE = new ChangeStatement<Wave>(
  'update-objects',
  [
    { column: 'id', type: 'uuid', of: ({ row }) => row.id },
    { column: 'expected', type: 'integer', of: ({ before }) => before.revision },
  ],
  properties<ObjectRow>(MUTABLE).map(
    ({ of, ...column }): ChangeColumn<Wave> => ({
      ...column,
      of: ({ row }) => of(row),
      before: ({ before }) => of(before),
    }),
  ),
  (set, { at, from, isFew }) =>
    `update object o set ${set} from ${from} where ${isFew} and o.id = u.id and o.revision = ${at('expected')}`,
)

/**
 * Compare-and-swap on the revision, one wave for each hop, so that the database sees every phase change as it happened.
 * All waves are sent at once.
 */
export async function updateObjects(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const longest = nodes.reduce((most, node) => Math.max(most, node.hops.length), 1)
  const waves = Array.from({ length: longest }, (_, wave) => nodes.flatMap((node) => rowAfter(node, wave) ?? []))
  await together(waves.map((wave) => updateWave(client, wave)))
}

interface Wave {
  readonly before: ObjectRow
  readonly row: ObjectRow
}

function rowAfter(node: WritableNode, wave: number): Wave | null {
  const { hops, row, storedRow } = node
  if (wave > 0 && wave >= hops.length) return null
  const at = (hop: WritableNode['hops'][number] | undefined): ObjectRow =>
    hop ? { ...row, phase: hop.phase, phaseSince: hop.at, revision: hop.revision } : storedRow
  const before = at(hops[wave - 1])
  if (wave >= hops.length - 1) return { before, row }
  return { before, row: at(hops[wave]) }
}

async function updateWave(client: Client, waves: readonly Wave[]): Promise<void> {
  const statement = UPDATE.of(waves)
  if (!statement) return
  const { rowCount } = await client.query(statement)
  if (rowCount !== waves.length) throw new RevisionConflict(waves.length, rowCount ?? 0)
}

/** Other rows of theirs, and what their agents printed, go with them by themselves. */
export async function deleteObjects(client: Client, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { rowCount } = await client.query({
    name: 'delete-objects',
    text: 'delete from object where id = any($1::uuid[])',
    values: [ids],
  })
  if (rowCount !== ids.length) throw new RevisionConflict(ids.length, rowCount ?? 0)
}

/**
 * A side row of each object. Objects that are new have none yet: looking for one costs as much as the row, and another
 * record of Postgres's own log.
 */
class SideRow {
  readonly #insert: RowStatement<WritableNode>
  readonly #upsert: RowStatement<WritableNode>

  /** @param changed columns that may change once the object is there; absent: all of them */
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
    const known = nodes.filter(({ stored }) => stored)
    const fresh = known.length === 0 ? nodes : nodes.filter(({ stored }) => !stored)
    await together([
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
  // Labels are changed by a statement of their own.
  [SPEC_COLUMN],
)
export const writeSpecs = (client: Client, nodes: readonly WritableNode[]): Promise<void> => SPEC.write(client, nodes)

const TALLY = new SideRow(
  'tallies',
  'tally',
  TALLY_COLUMNS.map((column) => ({ column, type: 'integer', of: ({ tally }: WritableNode) => tally[column] })),
)
export const writeTallies = (client: Client, nodes: readonly WritableNode[]): Promise<void> =>
  TALLY.write(client, nodes)

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
  // Progress that was not touched in this transaction was not loaded either: it stays as it is.
  const withProgress = nodes.filter((n) => n.progress !== undefined)
  const errorOnly = nodes.filter((n) => n.progress === undefined)
  await together([
    withProgress.length > 0 && client.query(STATUS.of(withProgress)),
    errorOnly.length > 0 && client.query(STATUS_ERROR_ONLY.of(errorOnly)),
  ])
}

const ofWork = ({ of, ...column }: RowColumn<Work>): ChangeColumn<WritableNode> => ({
  ...column,
  of: ({ work }) => of(work as Work),
  before: ({ storedWork }) => of(storedWork as Work),
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
const UPDATE_WORK = new ChangeStatement<WritableNode>(
  'update-work',
  [ID],
  WORK,
  (set, { from, isFew }) => `update work w set ${set} from ${from} where ${isFew} and w.object_id = u.object_id`,
)

/** Work that is new to agents gets a place in their queue, in the order of the nodes. */
export async function writeWork(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const placed = nodes.filter(({ storedWork, offered }) => offered || !storedWork)
  const known = nodes.filter(({ storedWork, offered }) => storedWork && !offered)
  const areNew = placed.every(({ storedWork }) => !storedWork)
  await together([
    placed.length > 0 && client.query((areNew ? INSERT_WORK : OFFER_WORK).of(placed)),
    changeWork(
      client,
      known.filter((node) => !changesLease(node)),
    ),
    changeWork(client, known.filter(changesLease)),
  ])
}

// Leases are renewed beside the revisions: what does not mean to change one must not write an older one over it.
const changesLease = ({ work, storedWork }: WritableNode): boolean => work?.leaseUntil !== storedWork?.leaseUntil

async function changeWork(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const changed = nodes.filter((node) => node.work !== node.storedWork)
  const statement = UPDATE_WORK.of(changed)
  if (!statement) return
  const { rowCount } = await client.query(statement)
  if (rowCount !== changed.length) throw new RevisionConflict(changed.length, rowCount ?? 0)
}

const FACTS = new WeakMap<FactsColumns, SideRow>()

/** The whole side row of each object; new or changed. */
export async function writeFacts(client: Client, table: FactsColumns, nodes: readonly WritableNode[]): Promise<void> {
  if (nodes.length === 0) return
  const row = FACTS.get(table) ?? factsRow(table)
  FACTS.set(table, row)
  await row.write(client, nodes)
}

const factsRow = ({ table, columns }: FactsColumns): SideRow =>
  new SideRow(
    table,
    table,
    Object.entries(columns).map(([property, column]) => ({
      ...column,
      of: ({ facts }) => (facts as Record<string, unknown>)[property],
    })),
  )

/** Replaces what each of these objects depends on. */
export async function writeEdges(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const stored = nodes.filter((node) => node.stored)
  const edges = nodes.flatMap((node) => (node.dependencies ?? []).map((to) => [node.row.id, to.row.id] as const))
  await together([
    stored.length > 0 &&
      client.query({
        name: 'delete-edges',
        text: 'delete from edge where from_id = any($1::uuid[])',
        values: [binaryUuids(idsOf(stored))],
      }),
    edges.length > 0 &&
      client.query({
        name: 'insert-edges',
        text: 'insert into edge (from_id, to_id) select * from unnest($1::uuid[], $2::uuid[]) on conflict do nothing',
        values: [binaryUuids(edges.map(([from]) => from)), binaryUuids(edges.map(([, to]) => to))],
      }),
  ])
}

const idsOf = (nodes: readonly WritableNode[]): string[] => nodes.map(({ row }) => row.id)
