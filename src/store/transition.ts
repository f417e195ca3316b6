import type { ObjectFailure } from '../core/errors.ts'
import type { ObjectRow, Tally, Work } from '../core/tree.ts'
import type { Phase } from '../core/vocabulary.ts'
import type { Client } from './client.ts'
import { arrayOf, arrayType, element, OBJECT_COLUMNS, TALLY_COLUMNS, WORK_COLUMNS } from './columns.ts'

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
  readonly storedRevision: number
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

const quoted = (columns: readonly { column: string }[]) => columns.map(({ column }) => `"${column}"`).join(', ')
const params = (columns: readonly { type: string }[], from = 1) =>
  columns.map(({ type }, i) => `$${i + from}::${arrayType(type)}`).join(', ')
const values = (columns: readonly { property: string; type: string }[], rows: readonly object[]): unknown[] =>
  columns.map(({ property, type }) =>
    arrayOf(
      type,
      rows.map((row) => (row as Record<string, unknown>)[property] ?? null),
    ),
  )

const INSERT = `insert into object (${quoted(OBJECT_COLUMNS)})
  select * from unnest(${params(OBJECT_COLUMNS)})`

/** The first phase of a new object is its machine's initial one: the row is written as it was created, then its hops. */
export async function insertObjects(client: Client, rows: readonly ObjectRow[]): Promise<void> {
  if (rows.length === 0) return
  await client.query({ name: 'insert-objects', text: INSERT, values: values(OBJECT_COLUMNS, rows) })
}

const MUTABLE = OBJECT_COLUMNS.filter(
  ({ property }) => !['id', 'rootId', 'parentId', 'projectId', 'kind', 'name', 'createdAt'].includes(property),
)
const UPDATE = `update object o set ${MUTABLE.map(({ column }) => `"${column}" = u."${column}"`).join(', ')}
  from unnest($1::uuid[], $2::integer[], ${params(MUTABLE, 3)})
    as u(id, expected, ${quoted(MUTABLE)})
  where o.id = u.id and o.revision = u.expected`

/** Compare-and-swap on the revision, one wave for each hop, so that the database sees every phase change as it happened. */
export async function updateObjects(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const longest = nodes.reduce((most, node) => Math.max(most, node.hops.length), 1)
  for (let wave = 0; wave < longest; wave++) {
    const rows = nodes.flatMap((node) => rowAfter(node, wave) ?? [])
    await updateWave(client, rows)
  }
}

interface Wave {
  readonly expected: number
  readonly row: ObjectRow
}

function rowAfter(node: WritableNode, wave: number): Wave | null {
  const { hops, row, storedRevision } = node
  if (wave > 0 && wave >= hops.length) return null
  const expected = wave === 0 ? storedRevision : (hops[wave - 1]?.revision ?? storedRevision)
  const hop = hops[wave]
  if (!hop || wave === hops.length - 1) return { expected, row }
  return { expected, row: { ...row, phase: hop.phase, phaseSince: hop.at, revision: hop.revision } }
}

async function updateWave(client: Client, waves: readonly Wave[]): Promise<void> {
  if (waves.length === 0) return
  const rows = waves.map(({ row }) => row)
  const { rowCount } = await client.query({
    name: 'update-objects',
    text: UPDATE,
    values: [rows.map(({ id }) => id), waves.map(({ expected }) => expected), ...values(MUTABLE, rows)],
  })
  if (rowCount !== rows.length) throw new RevisionConflict(rows.length, rowCount ?? 0)
}

/** With what their agents printed; other rows of theirs go with them by themselves. */
export async function deleteObjects(client: Client, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { rowCount } = await client.query({
    name: 'delete-objects',
    text: `with lines as (delete from log_line where object_id = any($1::uuid[]))
      delete from object where id = any($1::uuid[])`,
    values: [ids],
  })
  if (rowCount !== ids.length) throw new RevisionConflict(ids.length, rowCount ?? 0)
}

const SPEC = `insert into object_spec (object_id, spec, labels)
  select u.id, u.spec::jsonb, u.labels::jsonb from unnest($1::uuid[], $2::text[], $3::text[]) as u(id, spec, labels)
  on conflict (object_id) do update set spec = excluded.spec`
export async function writeSpecs(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  if (nodes.length === 0) return
  await client.query({
    name: 'write-specs',
    text: SPEC,
    values: [idsOf(nodes), nodes.map((n) => JSON.stringify(n.spec)), nodes.map((n) => JSON.stringify(n.labels))],
  })
}

const TALLY = `insert into tally (object_id, ${TALLY_COLUMNS.map((c) => `"${c}"`).join(', ')})
  select * from unnest($1::uuid[], ${TALLY_COLUMNS.map((_, i) => `$${i + 2}::integer[]`).join(', ')})
  on conflict (object_id) do update set ${TALLY_COLUMNS.map((c) => `"${c}" = excluded."${c}"`).join(', ')}`
export async function writeTallies(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  if (nodes.length === 0) return
  const counts = TALLY_COLUMNS.map((column) => nodes.map(({ tally }) => tally[column]))
  await client.query({ name: 'write-tallies', text: TALLY, values: [idsOf(nodes), ...counts] })
}

const STATUS = `insert into object_status as s (object_id, error, progress)
  select u.id, u.error::jsonb, u.progress::jsonb
  from unnest($1::uuid[], $2::text[], $3::text[]) as u(id, error, progress)
  on conflict (object_id) do update set error = excluded.error, progress = excluded.progress`
const STATUS_ERROR_ONLY = STATUS.replace(', progress = excluded.progress', '')
export async function writeStatuses(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value))
  // Progress that was not touched in this transaction was not loaded either: it stays as it is.
  for (const [name, text, some] of [
    ['write-statuses', STATUS, nodes.filter((n) => n.progress !== undefined)],
    ['write-errors', STATUS_ERROR_ONLY, nodes.filter((n) => n.progress === undefined)],
  ] as const) {
    if (some.length === 0) continue
    await client.query({
      name,
      text,
      values: [idsOf(some), some.map((n) => json(n.error)), some.map((n) => json(n.progress))],
    })
  }
}

const WORK_SET = WORK_COLUMNS.map(({ column }) => `"${column}" = excluded."${column}"`).join(', ')
const WORK = `insert into work as w (object_id, root_id, seq, ${quoted(WORK_COLUMNS)})
  select u.id, u.root_id, case when u.offered then nextval('work_seq') else 0 end,
    ${WORK_COLUMNS.map(({ column, type }) => element(column, type)).join(', ')}
  from unnest($1::uuid[], $2::uuid[], $3::boolean[], ${params(WORK_COLUMNS, 4)})
    as u(id, root_id, offered, ${quoted(WORK_COLUMNS)})
  on conflict (object_id) do update set seq = case when excluded.seq = 0 then w.seq else excluded.seq end, ${WORK_SET}`
export async function writeWork(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  if (nodes.length === 0) return
  const work = nodes.map((node) => node.work as Work)
  await client.query({
    name: 'write-work',
    text: WORK,
    values: [idsOf(nodes), nodes.map((n) => n.row.rootId), nodes.map((n) => n.offered), ...values(WORK_COLUMNS, work)],
  })
}

/** The whole side row of each object; new or changed. */
export async function writeFacts(
  client: Client,
  { table, columns }: FactsColumns,
  nodes: readonly WritableNode[],
): Promise<void> {
  if (nodes.length === 0) return
  const all = Object.entries(columns).map(([property, { column, type }]) => ({ property, column, type }))
  const text = `insert into "${table}" (object_id, ${quoted(all)})
    select u.id, ${all.map(({ column, type }) => element(column, type)).join(', ')}
    from unnest($1::uuid[], ${params(all, 2)}) as u(id, ${quoted(all)})
    on conflict (object_id) do update set ${all.map(({ column }) => `"${column}" = excluded."${column}"`).join(', ')}`
  const facts = nodes.map((node) => node.facts as object)
  await client.query({ name: `write-${table}`, text, values: [idsOf(nodes), ...values(all, facts)] })
}

/** Replaces what each of these objects depends on. */
export async function writeEdges(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const stored = nodes.filter((node) => node.stored)
  if (stored.length > 0) {
    await client.query({
      name: 'delete-edges',
      text: 'delete from edge where from_id = any($1::uuid[])',
      values: [idsOf(stored)],
    })
  }
  const edges = nodes.flatMap((node) => (node.dependencies ?? []).map((to) => [node.row.id, to.row.id] as const))
  if (edges.length === 0) return
  await client.query({
    name: 'insert-edges',
    text: 'insert into edge (from_id, to_id) select * from unnest($1::uuid[], $2::uuid[]) on conflict do nothing',
    values: [edges.map(([from]) => from), edges.map(([, to]) => to)],
  })
}

const idsOf = (nodes: readonly WritableNode[]): string[] => nodes.map(({ row }) => row.id)
