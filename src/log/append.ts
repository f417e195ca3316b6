import type { Change, WrittenBatch } from '../core/ports/phase-change.ts'
import { type BinaryType, binaryArray, binaryUuids } from '../store/binary.ts'
import type { Client } from '../store/client.ts'
import { type AnyType, array, bigint, integer, uuid } from '../store/column-types.ts'
import { columnOf } from '../store/columns.ts'
import { type StatementValues, statement } from '../store/statement.ts'
import { logColumns } from '../store/views.ts'

const { transaction, change, step } = logColumns
type Step = Pick<Change, keyof typeof step>
const keysOf = <T extends object>(columns: T) =>
  Object.keys(columns) as readonly string[] as readonly (keyof T & string)[]
const [OF_TRANSACTION, OF_STEP] = [keysOf(transaction), keysOf(step)]
const OF_CHANGE = Object.entries<AnyType>(change).map(([property, { sql }]) => ({
  property: property as keyof typeof change,
  type: sql as BinaryType,
}))

const ONE_FORM: readonly string[] = ['from', 'to', 'by', 'rejected', 'at']
const arrayOf = (property: string): string => (ONE_FORM.includes(property) ? property : `${columnOf(property)}s`)
const CONTENT = [
  ...OF_TRANSACTION.map(columnOf),
  ...[...keysOf(change), 'step', 'count', ...OF_STEP].map(arrayOf),
] as const
const arraysOf = (columns: Readonly<Record<string, AnyType>>): readonly AnyType[] => Object.values(columns).map(array)

const APPEND = statement({
  name: 'log_append',
  text: `with batch as (
      insert into log_batch (id, n) values (nextval('log_batch_id_seq'), $1) returning id
    ), content as (
      insert into log_content (batch_id, ${CONTENT.map((column) => `"${column}"`).join(', ')})
      select id, ${CONTENT.map((_, i) => `$${i + 3}`).join(', ')} from batch
    ), objects as (
      insert into log_object (object_id, batch_id) select o.id, batch.id from batch, unnest($2::uuid[]) o(id)
    )
    select id from batch`,
  params: [
    integer,
    array(uuid),
    ...Object.values(transaction),
    ...arraysOf(change),
    array(integer),
    array(integer),
    ...arraysOf(step),
  ],
  row: { id: bigint },
})

/**
 * Writes one batch of the log, in order, in one statement. Call it at most once per transaction, with the root row locked,
 * so that batch ids grow in commit order within a tree. All changes must be of that tree, and so of its project. Without changes it writes
 * nothing. Returns the batch to announce after the commit.
 */
export async function appendChanges(client: Client, changes: readonly Change[]): Promise<readonly WrittenBatch[]> {
  const [first] = changes
  if (!first) return []
  const { rows } = await APPEND.query(client, valuesOf(first, changes))
  return rows.map(({ id }) => ({ id: String(id), changes }))
}

function valuesOf(first: Change, changes: readonly Change[]): StatementValues<typeof APPEND> {
  const { steps, counts, stepOf } = stepsOf(changes)
  return [
    changes.length,
    binaryUuids([...new Set(changes.map((c) => c.objectId))]),
    ...OF_TRANSACTION.map((property) => first[property]),
    ...OF_CHANGE.map(({ property, type }) => binaryArray(type, changes, (c) => c[property])),
    binaryArray('integer', stepOf, (place) => place),
    counts,
    ...OF_STEP.map((property) => steps.map((s) => (property === 'at' ? s.at.toISOString() : s[property]))),
  ]
}

/** Only the last steps are compared: a duplicate of an earlier one costs a few bytes. */
const COMPARED = 16

interface Steps {
  readonly steps: readonly Step[]
  /** Number of changes of each step. */
  readonly counts: readonly number[]
  /** The step of each change, from 1. */
  readonly stepOf: readonly number[]
}

function stepsOf(changes: readonly Change[]): Steps {
  const steps: Step[] = []
  const counts: number[] = []
  const stepOf = changes.map((one) => {
    let i = steps.length - 1
    const last = Math.max(0, steps.length - COMPARED)
    while (i >= last && !isSame(steps[i] as Step, one)) i--
    if (i < last) i = steps.push(one) - 1
    counts[i] = (counts[i] ?? 0) + 1
    return i + 1
  })
  return { steps, counts, stepOf }
}

const isSame = (a: Step, b: Step): boolean =>
  OF_STEP.every((property) => a[property] === b[property] || (property === 'at' && a.at.getTime() === b.at.getTime()))
