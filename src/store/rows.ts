import { binaryArray } from './binary.ts'
import { array, type ColumnType } from './column-types.ts'
import { type Column, type WireType, wireTypeOf } from './columns.ts'
import { declare, declareOnDemand } from './statement.ts'

/** A column of a statement over many rows, and how to get its value from a row. */
export interface RowColumn<R> {
  readonly column: string
  readonly type: string
  readonly of: (row: R) => unknown
}

/** The parts that a statement's text is made of. */
export interface RowSource {
  /** The SQL expression of a column. */
  at(column: string): string
  /** The expressions of all columns, in their order. */
  readonly list: string
  /** A `from` item, called `u`. */
  readonly from: string
  /** `selectivityHint` of the first column. */
  readonly hint: string
}

export interface BoundStatement {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

const NIL = '00000000-0000-0000-0000-000000000000'
const MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
/**
 * A condition on a column of uuids that is true of every row. The planner estimates that it is true of few, so it joins
 * by looking up each row in an index, even if the tables were empty when the plan was made.
 */
export const selectivityHint = (column: string): string => `${column} between '${NIL}' and '${MAX}'`

/** The maximum number of prepared variants of one statement; other combinations are sent as one of them. */
const MAX_VARIANTS = 8

interface Variant {
  readonly name: string
  readonly text: string
}

/**
 * One statement over any number of rows. Each column is sent as one array, or as a single value if it is the same in all
 * rows, as most are. Each combination of arrays and single values is a prepared statement of its own.
 */
export class RowStatement<R> {
  readonly #name: string
  readonly #columns: readonly (RowColumn<R> & { readonly wireType: WireType })[]
  readonly #text: (source: RowSource) => string
  readonly #variants = new Map<number, Variant>()

  /** @param columns at most 30; the first one is always sent as an array */
  constructor(name: string, columns: readonly RowColumn<R>[], text: (source: RowSource) => string) {
    this.#name = name
    this.#columns = columns.map((column) => ({ ...column, wireType: wireTypeOf(column.type) }))
    this.#text = text
    declareOnDemand(() => this.#variant(0))
  }

  of(rows: readonly R[]): BoundStatement {
    const columns = this.#columns
    // The variant that fits any rows. Not made before it is needed: families add values to enums until then.
    if (this.#variants.size === 0) this.#variant(0)
    let mask = 0
    for (let c = 1; c < columns.length; c++) {
      if (isSame(rows, (columns[c] as RowColumn<R>).of)) mask |= 1 << c
    }
    const [variant, sent] = this.#variant(mask)
    const values = columns.map(({ of, wireType }, c) => {
      if (sent & (1 << c)) return single(wireType.value(of(rows[0] as R)))
      return binaryArray(wireType.type, rows, (row) => wireType.value(of(row)))
    })
    return { ...variant, values }
  }

  #variant(mask: number): [Variant, number] {
    const known = this.#variants.get(mask)
    if (known) return [known, mask]
    if (this.#variants.size >= MAX_VARIANTS) return this.#nearest(mask)
    const made = { name: `${this.#name}-${mask.toString(36)}`, text: this.#text(this.#source(mask)) }
    this.#variants.set(mask, made)
    declare({
      ...made,
      params: this.#columns.map(({ wireType }, c) => parameterType(wireType, mask & (1 << c))),
      row: {},
    })
    return [made, mask]
  }

  /** The known variant that sends the fewest single values as arrays; each variant is correct. */
  #nearest(mask: number): [Variant, number] {
    let best = 0
    for (const known of this.#variants.keys()) {
      if ((known & ~mask) === 0 && bits(known) > bits(best)) best = known
    }
    return [this.#variants.get(best) as Variant, best]
  }

  #source(mask: number): RowSource {
    const columns = this.#columns.map(({ column, wireType }, c) => {
      const isSingle = (mask & (1 << c)) !== 0
      const parameter = `$${c + 1}::${wireType.type}`
      const sql = wireType.element(isSingle ? parameter : `u."${column}"`)
      return { column, parameter, isSingle, sql }
    })
    const arrays = columns.filter(({ isSingle }) => !isSingle)
    const sqls = new Map(columns.map(({ column, sql }) => [column, sql]))
    const names = arrays.map(({ column }) => `"${column}"`).join(', ')
    return {
      at: (column) => sqls.get(column) as string,
      list: columns.map(({ sql }) => sql).join(', '),
      from: `unnest(${arrays.map(({ parameter }) => `${parameter}[]`).join(', ')}) as u(${names})`,
      hint: selectivityHint(`u."${columns[0]?.column}"`),
    }
  }
}

const parameterType = ({ type }: WireType, isSingle: number): ColumnType => {
  const element = { sql: type, nullable: true }
  return isSingle ? element : array(element)
}

function bits(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}

function isSame<R>(rows: readonly R[], of: (row: R) => unknown): boolean {
  const first = of(rows[0] as R)
  for (let i = 1; i < rows.length; i++) if (!isEqual(of(rows[i] as R), first)) return false
  return true
}

const isEqual = (a: unknown, b: unknown): boolean =>
  a === b || (a instanceof Date && b instanceof Date && a.getTime() === b.getTime())

const single = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value)

/** Columns whose values are properties of the rows. */
export const properties = <R>(columns: readonly Column[]): readonly RowColumn<R>[] =>
  columns.map(({ property, column, type }) => ({
    column,
    type,
    of: (row) => (row as Record<string, unknown>)[property],
  }))

export const quoted = (columns: readonly { readonly column: string }[]): string =>
  columns.map(({ column }) => `"${column}"`).join(', ')

/** An update of any number of rows that writes only the columns that differ in at least one of them. */
export class ChangeStatement<R> {
  readonly #name: string
  readonly #keys: readonly RowColumn<R>[]
  readonly #columns: readonly ChangeColumn<R>[]
  readonly #text: (set: string, source: RowSource) => string
  readonly #variants = new Map<number, RowStatement<R>>()

  /** @param keys columns that are compared but not written; the first one is unique */
  constructor(
    name: string,
    keys: readonly RowColumn<R>[],
    columns: readonly ChangeColumn<R>[],
    text: (set: string, source: RowSource) => string,
  ) {
    this.#name = name
    this.#keys = keys
    this.#columns = columns
    this.#text = text
    // The variant that fits any rows.
    this.#made((1 << columns.length) - 1)
  }

  /** Null: nothing differs. */
  of(rows: readonly R[]): BoundStatement | null {
    let mask = 0
    for (const row of rows) {
      for (let c = 0; c < this.#columns.length; c++) {
        if (mask & (1 << c)) continue
        const column = this.#columns[c] as ChangeColumn<R>
        if (!isEqual(column.of(row), column.before(row))) mask |= 1 << c
      }
    }
    if (mask === 0) return null
    const all = (1 << this.#columns.length) - 1
    const variant = this.#variants.get(mask) ?? this.#made(this.#variants.size < MAX_CHANGES ? mask : all)
    return variant.of(rows)
  }

  #made(mask: number): RowStatement<R> {
    const known = this.#variants.get(mask)
    if (known) return known
    const changed = this.#columns.filter((_, c) => (mask & (1 << c)) !== 0)
    const set = (source: RowSource) => changed.map(({ column }) => `"${column}" = ${source.at(column)}`).join(', ')
    const made = new RowStatement(`${this.#name}-${mask.toString(36)}`, [...this.#keys, ...changed], (source) =>
      this.#text(set(source), source),
    )
    this.#variants.set(mask, made)
    return made
  }
}
export interface ChangeColumn<R> extends RowColumn<R> {
  /** The value in the store. */
  readonly before: (row: R) => unknown
}
const MAX_CHANGES = 16
