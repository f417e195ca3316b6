import type { ObjectFailure } from '../core/errors.ts'
import { type ChildCounts, NO_CHILD_COUNTS, type ObjectRow, type Work } from '../core/tree.ts'
import type { ObjectKind } from '../core/vocabulary.ts'
import { binaryUuids } from './binary.ts'
import type { Client } from './client.ts'
import { type AnyType, array, bigint, boolean, integer, nullable, text, uuid } from './column-types.ts'
import { CHILD_COUNT_COLUMNS, type DetailsColumns, OBJECT_COLUMNS, WORK_COLUMNS } from './columns.ts'
import { type Declared, declare, statement } from './statement.ts'
import * as table from './tables.ts'

/** One object as the store has it. */
export interface LoadedNode {
  readonly row: ObjectRow
  readonly childCounts: ChildCounts
  readonly work: Work | null
  readonly error: ObjectFailure | null
  readonly hasProgress: boolean
  readonly clock: Date | null
  /** Its side row, if its kind has one and it is there. */
  readonly details: object | null
}

export interface KindDetails extends DetailsColumns {
  readonly kinds: readonly ObjectKind[]
}

type Values = readonly unknown[]

/**
 * Reads whole objects with their side rows, in one statement for each way to select them. `offset 0` makes every plan
 * look up side rows one by one in an index, however few rows there were when it was made.
 */
export class NodeLoader {
  readonly #details: readonly (KindDetails & { readonly at: number; readonly properties: readonly string[] })[]
  readonly #statements: Readonly<Record<'nodes' | 'lone' | 'children' | 'named', Declared>>

  constructor(details: readonly KindDetails[]) {
    let at = DETAILS_AT
    this.#details = details.map((table) => {
      const properties = Object.keys(table.columns)
      const placed = { ...table, at, properties }
      at += properties.length + 1
      return placed
    })
    const selection = [
      SELECTION,
      ...details.flatMap(({ columns }, f) => [
        `f${f}.object_id`,
        ...Object.values(columns).map(({ column }) => `f${f}."${column}"`),
      ]),
    ].join(', ')
    // The condition on the kind skips the tables of other kinds.
    const side = ({ table, kinds }: KindDetails, f: number) =>
      `left join lateral (
        select * from "${table}" where object_id = o.id and o.kind in (${kinds.map((kind) => `'${kind}'`).join(', ')}) offset 0
      ) f${f} on true`
    const joins = [JOINS, ...details.map(side)].join(' ')
    const row = [
      ...COLUMNS,
      ...details.flatMap(({ columns }) => [{ type: 'uuid' }, ...Object.values(columns)].map(typed)),
    ]
    this.#statements = {
      nodes: declare({
        name: 'load-nodes',
        text: `with recursive up as (
          select o.id, o.parent_id from unnest($1::uuid[]) wanted(id)
          cross join lateral (select * from object where id = wanted.id and root_id = $2 offset 0) o
          union
          select o.id, o.parent_id from up cross join lateral (select * from object where id = up.parent_id offset 0) o
        ) select ${selection} from up cross join lateral (select * from object where id = up.id offset 0) o ${joins}`,
        params: [array(uuid), uuid],
        row,
      }),
      lone: declare({
        name: 'load-lone-roots',
        text: `select ${selection} from unnest($1::uuid[]) wanted(id)
          cross join lateral (select * from object where id = wanted.id offset 0) o ${joins}`,
        params: [array(uuid)],
        row,
      }),
      children: declare({
        name: 'load-children',
        text: `select ${selection} from object o ${joins} where o.parent_id = $1 order by o.ordinal, o.id`,
        params: [uuid],
        row,
      }),
      // Looks up each name, and orders by the right index: another index also begins with the parent, and costs the same
      // when there are few rows.
      named: declare({
        name: 'load-named',
        text: `select ${selection} from unnest($3::text[]) wanted(name)
        cross join lateral (
          select * from object where parent_id = $1 and kind = $2 and name between wanted.name and wanted.name
          order by parent_id, kind, name limit 1
        ) o ${joins}`,
        params: [uuid, table.objectKind, array(text)],
        row,
      }),
    }
  }

  /** The objects and all their ancestors, as far as they belong to the tree. */
  nodes(client: Client, rootId: string, ids: readonly string[]): Promise<readonly LoadedNode[]> {
    return this.#select(client, 'nodes', [binaryUuids(ids), rootId])
  }
  /** Roots without children. */
  lone(client: Client, ids: readonly string[]): Promise<readonly LoadedNode[]> {
    return this.#select(client, 'lone', [binaryUuids(ids)])
  }
  children(client: Client, parentId: string): Promise<readonly LoadedNode[]> {
    return this.#select(client, 'children', [parentId])
  }
  named(client: Client, parentId: string, kind: ObjectKind, names: readonly string[]): Promise<readonly LoadedNode[]> {
    return this.#select(client, 'named', [parentId, kind, [...new Set(names)]])
  }

  /** Sees what the transaction has written so far. */
  async #select(
    client: Client,
    which: 'nodes' | 'lone' | 'children' | 'named',
    values: unknown[],
  ): Promise<readonly LoadedNode[]> {
    const { name, text } = this.#statements[which]
    const { rows } = await client.query({ name, text, values, rowMode: 'array' } as never)
    return (rows as unknown as Values[]).map((row) => this.#toNode(row))
  }

  #toNode(values: Values): LoadedNode {
    const row = pick<ObjectRow>(OBJECT_PROPERTIES, values, 0)
    return {
      row,
      childCounts:
        values[CHILD_COUNTS_AT] === null
          ? NO_CHILD_COUNTS
          : pick<ChildCounts>(CHILD_COUNT_COLUMNS, values, CHILD_COUNTS_AT),
      work: values[WORK_AT] === null ? null : pick<Work>(WORK_PROPERTIES, values, WORK_AT),
      error: (values[STATUS_AT] as ObjectFailure | null) ?? null,
      hasProgress: values[STATUS_AT + 1] === true,
      clock: (values[CLOCK_AT] as Date | null) ?? null,
      details: this.#detailsOf(row.kind, values),
    }
  }

  #detailsOf(kind: ObjectKind, values: Values): object | null {
    const table = this.#details.find((details) => details.kinds.includes(kind))
    if (!table || values[table.at] === null) return null
    return pick<object>(table.properties, values, table.at + 1)
  }
}

const SELECTION = [
  ...OBJECT_COLUMNS.map(({ column }) => `o."${column}"`),
  ...CHILD_COUNT_COLUMNS.map((column) => `t."${column}"`),
  ...WORK_COLUMNS.map(({ column }) => `w."${column}"`),
  's.error',
  's.progress is not null',
  'c.due_at',
].join(', ')
const typed = ({ type }: { readonly type: string }): AnyType => ({ sql: type, nullable: true })
const COLUMNS: readonly AnyType[] = [
  ...Object.values(table.object),
  ...CHILD_COUNT_COLUMNS.map((column) => nullable(table.tally[column])),
  ...WORK_COLUMNS.map(typed),
  table.objectStatus.error,
  boolean,
  nullable(table.clock.dueAt),
]
const JOINS = [
  ['tally', 't'],
  ['work', 'w'],
  ['object_status', 's'],
  ['clock', 'c'],
]
  .map(
    ([table, alias]) => `left join lateral (select * from ${table} where object_id = o.id offset 0) ${alias} on true`,
  )
  .join(' ')
const OBJECT_PROPERTIES = OBJECT_COLUMNS.map(({ property }) => property)
const WORK_PROPERTIES = WORK_COLUMNS.map(({ property }) => property)
const CHILD_COUNTS_AT = OBJECT_COLUMNS.length
const WORK_AT = CHILD_COUNTS_AT + CHILD_COUNT_COLUMNS.length
const STATUS_AT = WORK_AT + WORK_COLUMNS.length
const CLOCK_AT = STATUS_AT + 2
const DETAILS_AT = CLOCK_AT + 1

function pick<T>(properties: readonly string[], values: Values, at: number): T {
  const result: Record<string, unknown> = {}
  for (let i = 0; i < properties.length; i++) result[properties[i] as string] = values[at + i]
  return result as T
}

const FIND_READY_CHILDREN = statement({
  name: 'find-ready-children',
  text: `select id from object where parent_id = $1 and ordinal > $2 and waiting_for = 0
      and job_id is distinct from $3 order by ordinal limit $4`,
  params: [uuid, integer, nullable(uuid), bigint],
  row: { id: table.object.id },
})

/** Children after an ordinal that wait for nothing and have not got the job: their ids, in their order. */
export async function findReadyChildren(
  client: Client,
  parentId: string,
  after: number,
  jobId: string | null,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await FIND_READY_CHILDREN.query(client, [parentId, after, jobId, limit])
  return rows.map(({ id }) => id)
}
