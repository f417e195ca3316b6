import type { QueryResult, QueryResultRow } from 'pg'

/** What the set-based statements need of a connection: one in a transaction, or a pool. */
export interface Client {
  query<R extends QueryResultRow>(config: { name?: string; text: string; values?: unknown[] }): Promise<QueryResult<R>>
}
