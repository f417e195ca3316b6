import type { Reach } from '../core/rights.ts'
import type { Client } from './client.ts'
import {
  type AnyType,
  array,
  bigint,
  boolean,
  integer,
  nullable,
  type ReadOf,
  text,
  uuid,
  type WrittenOf,
} from './column-types.ts'
import { columnOf } from './columns.ts'
import { direction, inOrder, type Window } from './loaders/window.ts'
import { statement } from './statement.ts'
import * as table from './tables.ts'

/**
 * Records of projects, such as hooks and targets: each has a name that is unique in its project, a generation, and no phases. All their
 * tables have the same statements.
 */

export interface ProjectRecord {
  readonly id: string
  readonly projectId: string
  readonly projectName: string
  readonly name: string
  readonly generation: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type NewRecord = Omit<ProjectRecord, 'projectName'>

/** Filters of a list; null: any. */
export interface RecordFilter {
  readonly reach: Reach
  readonly project: string | null
}
/** By name, and among those of several projects by id. */
export type RecordPosition = readonly [name: string, id: string]

type Columns = Readonly<Record<string, AnyType>>
type Read<C extends Columns> = { readonly [K in keyof C]: ReadOf<C[K]> }
type Written<C extends Columns> = { readonly [K in keyof C]: WrittenOf<C[K]> }
/** SQL over the record `r`, with its type. */
type Derived = Readonly<Record<string, readonly [sql: string, type: AnyType]>>
type DerivedTypes<D extends Derived> = { readonly [K in keyof D]: D[K][1] }

interface Declared<C extends Columns, D extends Derived, W extends Columns> {
  readonly table: string
  /** Besides those of each record. */
  readonly columns: C
  /** Columns that are read, and that something else writes or SQL computes. */
  readonly derived?: D
  /** Columns that are written, and that no list reads. */
  readonly unread?: W
  /** More columns of an insert, and more assignments of an update. */
  readonly alsoWrites?: { readonly columns: Readonly<Record<string, string>>; readonly onUpdate: readonly string[] }
  /** SQL over `r`: true of records that act beyond their project, which only administrators read. */
  readonly isForAll?: string
  /** More filters of lists; `first` is the number of the first of their parameters. */
  readonly filters?: { readonly params: readonly AnyType[]; sql(first: number): string }
}

export interface ProjectRecords<Row, New> {
  /** For statements beside these: `select ${selection} where …`, over the record `r`. */
  readonly selection: string
  /** @param reach null: all of them */
  load(client: Client, ids: readonly string[], reach: Reach | null): Promise<readonly Row[]>
  named(client: Client, wanted: RecordName, reach: Reach | null): Promise<Row | null>
  list(
    client: Client,
    filter: RecordFilter,
    window: Window<RecordPosition>,
    more?: readonly unknown[],
  ): Promise<readonly Row[]>
  count(client: Client, filter: RecordFilter, more?: readonly unknown[]): Promise<number>
  /** The number in a project. */
  countIn(client: Client, projectId: string): Promise<number>
  /** Inserts it, or replaces all of it but its id, project, name and age. */
  write(client: Client, record: New): Promise<void>
  remove(client: Client, id: string): Promise<void>
}
export interface RecordName {
  /** Its name. */
  readonly project: string
  readonly name: string
}

const OF_EACH = (() => {
  const { id, projectId, name, generation, createdAt, updatedAt } = table.hook
  return { id, projectId, name, generation, createdAt, updatedAt }
})()
const FIXED = new Set(['id', 'projectId', 'name', 'createdAt'])

export function projectRecords<
  C extends Columns,
  D extends Derived = Record<never, never>,
  W extends Columns = Record<never, never>,
>({
  table: name,
  columns,
  derived,
  unread,
  alsoWrites = { columns: {}, onUpdate: [] },
  isForAll = 'false',
  filters = { params: [], sql: () => 'true' },
}: Declared<C, D, W>) {
  type Row = ProjectRecord & Read<C> & Read<DerivedTypes<D>>
  type New = NewRecord & Written<C> & Written<W>

  const own: Columns = { ...OF_EACH, ...columns }
  const computed: Derived = { projectName: ['p.name', text], ...derived }
  const row: Columns = {
    ...own,
    ...Object.fromEntries(Object.entries(computed).map(([property, [, type]]) => [property, type])),
  }
  const selected = [
    ...Object.keys(own).map((property) => `r.${columnOf(property)} as "${property}"`),
    ...Object.entries(computed).map(([property, [sql]]) => `${sql} as "${property}"`),
  ]
  const from = `from ${name} r join project p on p.id = r.project_id`
  const selection = `${selected.join(', ')} ${from}`
  const rowsOf = ({ rows }: { readonly rows: readonly object[] }) => rows as readonly Row[]

  /** The number of the first of two parameters. */
  const readable = (first: number): string =>
    `($${first}::uuid[] is null or r.project_id = any($${first})) and ($${first + 1}::boolean or not (${isForAll}))`
  const READABLE = [nullable(array(uuid)), boolean] as const
  const LOAD = statement({
    text: `select ${selection} where r.id = any($1::uuid[]) and ${readable(2)}`,
    params: [array(uuid), ...READABLE],
    row,
  })
  const NAMED = statement({
    name: `find-${name}`,
    text: `select ${selection} where p.name = $1 and r.name = $2 and ${readable(3)}`,
    params: [text, text, ...READABLE],
    row,
  })
  const filtered = (first: number): string =>
    `${readable(1)} and ($3::text is null or p.name = $3) and ${filters.sql(first)}`
  const FILTER = [...READABLE, nullable(text)] as const
  const list = (order: 'asc' | 'desc') =>
    statement({
      text: `select ${selection} where ${filtered(9)}
          and ($4::text is null or (r.name, r.id) > ($4, $5::uuid)) and ($6::text is null or (r.name, r.id) < ($6, $7::uuid))
        order by r.name ${order}, r.id ${order} limit $8`,
      params: [...FILTER, nullable(text), nullable(uuid), nullable(text), nullable(uuid), bigint, ...filters.params],
      row,
    })
  const LIST = { asc: list('asc'), desc: list('desc') }
  const COUNT = statement({
    text: `select count(*)::integer as count ${from} where ${filtered(4)}`,
    params: [...FILTER, ...filters.params],
    row: { count: integer },
  })
  const COUNT_IN = statement({
    name: `count-${name}`,
    text: `select count(*)::integer as count from ${name} where project_id = $1`,
    params: [uuid],
    row: { count: integer },
  })
  const written: Columns = { ...own, ...unread }
  const also = Object.entries(alsoWrites.columns)
  const WRITE = statement({
    name: `write-${name}`,
    text: `insert into ${name} as r (${[...Object.keys(written).map(columnOf), ...also.map(([column]) => column)].join(', ')})
      values (${[...Object.keys(written).map((_, i) => `$${i + 1}`), ...also.map(([, sql]) => sql)].join(', ')})
      on conflict (id) do update set ${[
        ...Object.keys(written)
          .filter((property) => !FIXED.has(property))
          .map((property) => `${columnOf(property)} = excluded.${columnOf(property)}`),
        ...alsoWrites.onUpdate,
      ].join(', ')}`,
    params: Object.values(written),
  })
  const REMOVE = statement({
    name: `remove-${name}`,
    text: `delete from ${name} where id = $1`,
    params: [uuid],
  })

  const records: ProjectRecords<Row, New> = {
    selection,
    load: async (client, ids, reach) => rowsOf(await LOAD.query(client, [ids, ...valuesOf(reach)])),
    named: async (client, wanted, reach) =>
      rowsOf(await NAMED.query(client, [wanted.project, wanted.name, ...valuesOf(reach)]))[0] ?? null,
    async list(client, { reach, project }, window, more = []) {
      const [afterName, afterId] = window.after ?? [null, null]
      const [beforeName, beforeId] = window.before ?? [null, null]
      const between = [afterName, afterId, beforeName, beforeId, window.limit] as const
      const values = [...valuesOf(reach), project, ...between, ...more]
      return inOrder(rowsOf(await LIST[direction(window)].query(client, values as never)), window)
    },
    count: async (client, { reach, project }, more = []) =>
      (await COUNT.query(client, [...valuesOf(reach), project, ...more] as never)).rows[0]?.count ?? 0,
    countIn: async (client, projectId) => (await COUNT_IN.query(client, [projectId])).rows[0]?.count ?? 0,
    async write(client, record) {
      const values = Object.entries(written).map(([property, { sql }]) => {
        const value = record[property as keyof New] as unknown
        return sql === 'jsonb' ? JSON.stringify(value) : value
      })
      await WRITE.query(client, values as never)
    },
    async remove(client, id) {
      await REMOVE.query(client, [id])
    },
  }
  /** The columns of the selection. */
  type RowTypes = typeof OF_EACH & { readonly projectName: typeof text } & C & DerivedTypes<D>
  return { ...records, row: row as RowTypes }
}
const valuesOf = (reach: Reach | null) => [reach?.projects ?? null, reach?.isAdministrator ?? true] as const

export type RecordOf<R> = R extends ProjectRecords<infer Row, infer _> ? Row : never
