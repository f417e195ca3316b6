import type { Labels } from '../core/place.ts'
import type { ObjectRow, Work, WorkState } from '../core/tree.ts'
import { ACTORS, OBJECT_KINDS, PHASES, RECONCILE_MODES, WORK_ACTIONS } from '../core/vocabulary.ts'
import type { BinaryType } from './binary.ts'
import { type AnyType, json, nullable, type Reads, smallintOf } from './column-types.ts'
import * as table from './tables.ts'

/** A property, its column and the column's type: one list for the statements that read a table and those that write it. */
export interface Column {
  readonly property: string
  readonly column: string
  readonly type: string
}
const columnsOf = <T>(types: { readonly [K in keyof T]-?: Reads<T[K]> }): readonly Column[] =>
  Object.entries<AnyType>(types).map(([property, { sql }]) => ({
    property,
    column: columnOf(property),
    type: sql,
  }))
/** The column of a property of Prisma. */
export const columnOf = (property: string): string => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export const OBJECT_COLUMNS = columnsOf<ObjectRow>(table.object)

const { objectId: _object, rootId: _root, seq: _seq, ...work } = table.work
export const WORK_COLUMNS = columnsOf<Work>({
  ...work,
  state: smallintOf<WorkState>(),
  targetLabels: nullable(json<Labels>()),
})
export const CHILD_COUNT_COLUMNS = ['total', 'untriggered', 'open', 'failed', 'cursor'] as const

/** A family's side table, and its columns by the properties of the details. */
export interface DetailsColumns {
  readonly table: string
  readonly columns: Readonly<Record<string, { readonly column: string; readonly type: string }>>
}

/** A side table with a column for each property of the details. */
export const detailsTable = <D extends object, Kind>(
  name: string,
  kinds: readonly Kind[],
  types: { readonly [K in keyof D]-?: AnyType },
  defaults: D,
) => ({
  table: name,
  kinds,
  columns: Object.fromEntries(
    (Object.keys(defaults) as (keyof D & string)[]).map((property) => [
      property,
      { column: columnOf(property), type: types[property].sql },
    ]),
  ),
  defaults,
})

/** Values of enums are sent as their positions in these lists: Postgres's own numbers differ between databases. */
const ENUMS: Readonly<Record<string, readonly string[]>> = {
  object_kind: OBJECT_KINDS,
  phase: PHASES,
  actor: ACTORS,
  work_action: WORK_ACTIONS,
  reconcile_mode: RECONCILE_MODES,
}
const NUMBERS = new Map(
  Object.entries(ENUMS).map(([type, values]) => [type, new Map(values.map((value, i) => [value, i + 1]))]),
)

/** Adds values of families to an enum, before the first statement is made. */
export function addEnumValues(type: string, values: readonly string[]): void {
  const numbers = NUMBERS.get(type)
  for (const value of values) if (numbers && !numbers.has(value)) numbers.set(value, numbers.size + 1)
}

/** The wire format of a column in a statement over many rows, and the SQL that reads one element of it. */
export interface WireType {
  readonly type: BinaryType
  element(sql: string): string
  value(value: unknown): unknown
}
const asIs = (type: BinaryType): WireType => ({ type, element: (sql) => sql, value: (value) => value })
const JSONB: WireType = {
  type: 'jsonb',
  element: (sql) => sql,
  value: (value) => (value === null || value === undefined ? null : JSON.stringify(value)),
}

export function wireTypeOf(type: string): WireType {
  const numbers = NUMBERS.get(type)
  if (!numbers) return type === 'jsonb' ? JSONB : asIs(type as BinaryType)
  return {
    type: 'smallint',
    element: (sql) => `('{${[...numbers.keys()].join(',')}}'::"${type}"[])[${sql}]`,
    value: (value) => numbers.get(value as string) ?? null,
  }
}
