import type { ObjectFailure } from '../core/errors.ts'
import { NO_TALLY, type ObjectRow, type Tally, type Work } from '../core/tree.ts'
import type { Client } from './client.ts'
import { OBJECT_COLUMNS, TALLY_COLUMNS, WORK_COLUMNS } from './columns.ts'

/** One object as the store has it. */
export interface LoadedNode {
  readonly row: ObjectRow
  readonly tally: Tally
  readonly work: Work | null
  readonly error: ObjectFailure | null
  readonly hasProgress: boolean
}

const selection = [
  ...OBJECT_COLUMNS.map(({ column }) => `o."${column}"`),
  ...TALLY_COLUMNS.map((column) => `t."${column}"`),
  ...WORK_COLUMNS.map(({ column }) => `w."${column}"`),
  's.error',
  's.progress is not null',
].join(', ')
const joins = `left join tally t on t.object_id = o.id
  left join work w on w.object_id = o.id
  left join object_status s on s.object_id = o.id`

/** The objects and all their ancestors, as far as they belong to the tree. One statement. */
const WITH_ANCESTORS = `with recursive up as (
    select id, parent_id from object where id = any($1::uuid[]) and root_id = $2
    union
    select o.id, o.parent_id from object o join up on o.id = up.parent_id
  ) select ${selection} from up join object o on o.id = up.id ${joins}`

type Values = readonly unknown[]

export async function loadNodes(
  client: Client,
  rootId: string,
  ids: readonly string[],
): Promise<readonly LoadedNode[]> {
  const { rows } = await client.query({
    name: 'load-nodes',
    text: WITH_ANCESTORS,
    values: [ids, rootId],
    rowMode: 'array',
  } as never)
  return (rows as unknown as Values[]).map(toNode)
}

/** Selections of objects by a condition; each sees what the transaction has written so far. */
const where = (name: string, condition: string) => ({
  name,
  text: `select ${selection} from object o ${joins} where ${condition}`,
  rowMode: 'array',
})
const CHILDREN = where('load-children', 'o.parent_id = $1 order by o.ordinal, o.id')
const NAMED = where('load-children-named', 'o.parent_id = $1 and o.kind = $2 and o.name = any($3::text[])')
const READY = where(
  'load-ready-children',
  'o.parent_id = $1 and o.ordinal > $2 and o.waiting_for = 0 and o.job_id is distinct from $3 order by o.ordinal limit $4',
)

async function select(client: Client, query: object, values: unknown[]): Promise<readonly LoadedNode[]> {
  const { rows } = await client.query({ ...query, values } as never)
  return (rows as unknown as Values[]).map(toNode)
}
export const loadChildren = (client: Client, parentId: string) => select(client, CHILDREN, [parentId])
export const loadChildrenNamed = (client: Client, parentId: string, kind: string, names: readonly string[]) =>
  select(client, NAMED, [parentId, kind, names])
export const loadReadyChildren = (
  client: Client,
  parentId: string,
  after: number,
  jobId: string | null,
  limit: number,
) => select(client, READY, [parentId, after, jobId, limit])

const TALLY_AT = OBJECT_COLUMNS.length
const WORK_AT = TALLY_AT + TALLY_COLUMNS.length
const STATUS_AT = WORK_AT + WORK_COLUMNS.length

function toNode(values: Values): LoadedNode {
  return {
    row: pick<ObjectRow>(OBJECT_COLUMNS, values, 0),
    tally: values[TALLY_AT] === null ? NO_TALLY : toTally(values),
    work: values[WORK_AT] === null ? null : pick<Work>(WORK_COLUMNS, values, WORK_AT),
    error: (values[STATUS_AT] as ObjectFailure | null) ?? null,
    hasProgress: values[STATUS_AT + 1] === true,
  }
}
const toTally = (values: Values): Tally =>
  Object.fromEntries(TALLY_COLUMNS.map((column, i) => [column, values[TALLY_AT + i]])) as unknown as Tally

function pick<T>(columns: readonly { property: string }[], values: Values, at: number): T {
  const result: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) result[(columns[i] as { property: string }).property] = values[at + i]
  return result as T
}
