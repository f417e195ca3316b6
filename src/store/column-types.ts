/** Postgres types as TypeScript sees them: what the driver returns for a column, and what it takes for a parameter. */

declare const READ: unique symbol
declare const WRITTEN: unique symbol

export interface ColumnType<R = unknown, W = R> {
  /** The name of the type in Postgres. */
  readonly sql: string
  readonly nullable: boolean
  /** The statement rules out null, though the column allows it. */
  readonly asserted?: true
  readonly [READ]?: R
  readonly [WRITTEN]?: W
}

/** Any column type: parameters of functions vary the other way round. */
// biome-ignore lint/suspicious/noExplicitAny: each type that is inferred from it is exact
export type AnyType = ColumnType<any, any>
// biome-ignore lint/suspicious/noExplicitAny: what may be written into it does not matter
export type Reads<R> = ColumnType<R, any>
export type ReadOf<T extends AnyType> = T extends ColumnType<infer R, infer _> ? R : never
export type WrittenOf<T extends AnyType> = T extends ColumnType<infer _, infer W> ? W : never

const type = <R, W = R>(sql: string): ColumnType<R, W> => ({ sql, nullable: false })

export const uuid = type<string>('uuid')
export const text = type<string>('text')
export const integer = type<number>('integer')
export const smallint = type<number>('smallint')
/** Counts and sequences stay within safe integers. */
export const bigint = type<number, number | string>('bigint')
export const float8 = type<number>('float8')
export const boolean = type<boolean>('boolean')
export const timestamptz = type<Date, Date | string>('timestamptz')
export const bytea = type<Buffer>('bytea')
export const jsonb = type<unknown>('jsonb')

export const enumeration = <T extends string>(sql: string): ColumnType<T> => type<T>(sql)
/** JSON of a known shape; most columns are `jsonb`, and Postgres's functions may return `json`. */
export const json = <T>(sql: 'json' | 'jsonb' = 'jsonb'): ColumnType<T> => type<T>(sql)
/** The result of a function that is called for its effect. */
export const nothing = type<''>('void')
/** Text that is one of a few. */
export const textOf = <T extends string>(): ColumnType<T> => type<T>('text')
/** A number that is one of a few. */
export const smallintOf = <T extends number>(): ColumnType<T> => type<T>('smallint')

export const nullable = <R, W>({ sql }: ColumnType<R, W>): ColumnType<R | null, W | null> => ({ sql, nullable: true })
/** A column that may be null in its table and never is in the rows of this statement. */
export const required = <R, W>({ sql }: ColumnType<R, W>): ColumnType<NonNullable<R>, NonNullable<W>> => ({
  sql,
  nullable: false,
  asserted: true,
})
/**
 * A column of the optional side of an outer join: all columns of that side are null together. The reader tests one of
 * them, which is declared nullable, before it reads the others.
 */
export const joined = <R, W>({ sql }: ColumnType<R, W>): ColumnType<R, W> => ({ sql, nullable: true })
/** All columns of that side. */
export const joinedAll = <C extends Readonly<Record<string, AnyType>>>(columns: C): C =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, joined(column)])) as C
/** A buffer carries the elements in Postgres's binary form. */
export const array = <R, W>({ sql }: ColumnType<R, W>): ColumnType<readonly R[], readonly W[] | Buffer> =>
  type(`${sql}[]`)
