import type { ObjectFailure } from '../core/errors.ts'
import type { ChildCounts, ObjectRow, Work } from '../core/tree.ts'
import type { Phase } from '../core/vocabulary.ts'
import { awaitAll } from './await-all.ts'
import type { Client } from './client.ts'
import { array, integer, uuid } from './column-types.ts'
import { OBJECT_COLUMNS } from './columns.ts'
import { type ChangeColumn, ChangeStatement, properties, quoted, RowStatement } from './rows.ts'
import { statement } from './statement.ts'

/** The only writer of objects and their phases. Set-based: one statement for each transition, whatever the number of objects. */

export interface WritableNode {
  readonly row: ObjectRow
  readonly childCounts: ChildCounts
  readonly work: Work | null
  readonly error: ObjectFailure | null
  readonly progress: unknown
  readonly clock: Date | null
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
/** Another writer changed the object meanwhile, which the root's lock rules out for our own writers. */
export class RevisionConflict extends Error {
  constructor(expected: number, written: number) {
    super(`${expected - written} of ${expected} objects were changed by another writer: the transaction starts over`)
    this.name = 'RevisionConflict'
  }
}

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
 * Compare-and-swap on the revision, one statement for each pending transition, so that the database checks each phase
 * change as it happened. All statements are sent at once.
 */
export async function updateObjects(client: Client, nodes: readonly WritableNode[]): Promise<void> {
  const longest = nodes.reduce((most, node) => Math.max(most, node.pendingTransitions.length), 1)
  const steps = Array.from({ length: longest }, (_, step) => nodes.flatMap((node) => rowAfter(node, step) ?? []))
  await awaitAll(steps.map((updates) => updatePending(client, updates)))
}

interface PendingUpdate {
  readonly before: ObjectRow
  readonly row: ObjectRow
}

function rowAfter(node: WritableNode, step: number): PendingUpdate | null {
  const { pendingTransitions, row, persistedRow } = node
  if (step > 0 && step >= pendingTransitions.length) return null
  const at = (pending: WritableNode['pendingTransitions'][number] | undefined): ObjectRow =>
    pending ? { ...row, phase: pending.phase, phaseSince: pending.at, revision: pending.revision } : persistedRow
  const before = at(pendingTransitions[step - 1])
  if (step >= pendingTransitions.length - 1) return { before, row }
  return { before, row: at(pendingTransitions[step]) }
}

async function updatePending(client: Client, updates: readonly PendingUpdate[]): Promise<void> {
  const statement = UPDATE.of(updates)
  if (!statement) return
  const { rowCount } = await client.query(statement)
  if (rowCount !== updates.length) throw new RevisionConflict(updates.length, rowCount ?? 0)
}

const DELETE_OBJECTS = statement({
  name: 'delete-objects',
  text: `delete from object o using unnest($1::uuid[], $2::integer[]) u(id, revision)
    where o.id = any($1::uuid[]) and o.id = u.id and o.revision = u.revision`,
  params: [array(uuid), array(integer)],
})

/** Deletes objects that have these revisions. Foreign keys and triggers delete their other rows and their log lines. */
export async function deleteObjects(client: Client, rows: readonly ObjectRow[]): Promise<void> {
  if (rows.length === 0) return
  const { rowCount } = await DELETE_OBJECTS.query(client, [rows.map(({ id }) => id), rows.map((row) => row.revision)])
  if (rowCount !== rows.length) throw new RevisionConflict(rows.length, rowCount ?? 0)
}
