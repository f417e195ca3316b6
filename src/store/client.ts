import type { QueryResult, QueryResultRow } from 'pg'

/** Runs a statement: a connection with an open transaction, or a pool. */
export interface Client {
  query<R extends QueryResultRow>(config: { name?: string; text: string; values?: unknown[] }): Promise<QueryResult<R>>
}
