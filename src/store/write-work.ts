import { WORK_STATE, type Work } from '../core/tree.ts'
import { awaitAll } from './await-all.ts'
import type { Client } from './client.ts'
import { WORK_COLUMNS } from './columns.ts'
import { type ChangeColumn, ChangeStatement, properties, quoted, type RowColumn, RowStatement } from './rows.ts'
import { OBJECT_ID } from './side-rows.ts'
import { RevisionConflict, type WritableNode } from './transition.ts'

/** Writes the work of objects: its place in the agents' queue, and its lease, which renewals change at the same time. */

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
    [OBJECT_ID, { column: 'root_id', type: 'uuid', of: ({ row }) => row.rootId }, OFFERED, ...WORK],
    ({ at, from }) => `insert into work (object_id, root_id, seq, ${quoted(WORK)})
      select ${at('object_id')}, ${at('root_id')}, case when ${at('offered')} then nextval('work_seq') else 0 end,
        ${WORK.map(({ column }) => at(column)).join(', ')}
      from ${from} ${onConflict}`,
  )
const INSERT_WORK = insertWork('insert-work', '')
/**
 * Work is offered anew although its agent has not answered, once its lease has ended. A renewal without the tree's lock may have
 * moved that end since it was read, so the end in the row counts.
 */
const WITH_LEASE = `excluded.lease_until is not null and work.state = ${WORK_STATE.CLAIMED}`
const offeredValue = ({ column }: ChangeColumn<WritableNode>): string => {
  const value = `excluded."${column}"`
  return column === 'lease_until' || column === 'offer_after'
    ? `case when ${WITH_LEASE} then greatest(${value}, work.lease_until) else ${value} end`
    : value
}
const OFFER_WORK = insertWork(
  'offer-work',
  `on conflict (object_id) do update set seq = excluded.seq, ${WORK.map((column) => `"${column.column}" = ${offeredValue(column)}`).join(', ')}`,
)
const updateWork = (name: string, columns: typeof WORK) =>
  new ChangeStatement<WritableNode>(
    name,
    [OBJECT_ID],
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
