import type { QueryResult } from 'pg'
import type { Client } from './client.ts'
import type { AnyType, ReadOf, WrittenOf } from './column-types.ts'

/**
 * Statements with a constant text. Each is declared once with the types of its parameters and columns: TypeScript
 * infers values and rows from them, and a test compares them with the database's own description.
 */

type Parameters = readonly AnyType[]
type Columns = Readonly<Record<string, AnyType>>

export type ValuesOf<P extends Parameters> = { readonly [I in keyof P]: WrittenOf<P[I]> }
export type RowOf<C extends Columns> = { readonly [K in keyof C]: ReadOf<C[K]> }

export type StatementRow<S> = S extends Statement<infer _, infer C> ? RowOf<C> : never

export type StatementValues<S> = S extends Statement<infer P, infer _> ? ValuesOf<P> : never

export interface Declared {
  /** Connections prepare and plan it once under this name; absent: they plan it each time. */
  readonly name?: string
  readonly text: string
  readonly params: Parameters
  /** By name, or in their order where rows are arrays. */
  readonly row: Columns | Parameters
}

interface Options<P extends Parameters, C extends Columns> {
  readonly name?: string
  readonly text: string
  readonly params?: P
  readonly row?: C
}

export interface Statement<P extends Parameters, C extends Columns> {
  query(client: Client, values: ValuesOf<P>): Promise<QueryResult<RowOf<C>>>
}

export function statement<const P extends Parameters = readonly [], C extends Columns = Record<never, never>>({
  name,
  text,
  params,
  row,
}: Options<P, C>): Statement<P, C> {
  declare({ ...(name !== undefined && { name }), text, params: params ?? [], row: row ?? {} })
  return {
    query: (client, values) =>
      client.query(name === undefined ? { text, values: values as never } : { name, text, values: values as never }),
  }
}

const registry = new Map<string, Declared>()

/** For statements that are put together from tables of columns. */
export function declare(declared: Declared): Declared {
  registry.set(`${declared.name} ${declared.text}`, declared)
  return declared
}

const onDemand: (() => void)[] = []

/** For statements whose text is not known when their module is loaded. */
export function declareOnDemand(declareOne: () => void): void {
  onDemand.push(declareOne)
}

/** Every statement of the modules that were loaded so far, also those that were not needed yet. */
export function everyStatement(): readonly Declared[] {
  for (const declareOne of onDemand.splice(0)) declareOne()
  return declaredStatements()
}

/** The statements of the modules that were loaded so far. */
export const declaredStatements = (): readonly Declared[] => [...registry.values()]
