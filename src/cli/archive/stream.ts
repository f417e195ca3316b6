import type { Session } from '../session.ts'

/** One of the streams that `phaseline archive` writes, such as the log. Families have others. */
export interface ArchivedStream {
  readonly name: string
  /** The columns of its files of Parquet, by the fields of its lines. */
  readonly columns: Readonly<Record<string, ColumnType>>
  /** The last sequence now: a run ends there. @throws ClientError */
  end(session: Session): Promise<number>
  /**
   * Reads on after a cursor; null: from the oldest line that the server keeps.
   * @throws ClientError
   */
  read(session: Session, after: string | null): Promise<StreamPage | LostPlace>
}
export type ColumnType = 'STRING' | 'INT32' | 'INT64' | 'DOUBLE' | 'BOOLEAN' | 'TIMESTAMP'

export interface StreamPage {
  readonly lines: readonly StreamLine[]
  /** After these lines; the cursor of the request if there is nothing more. */
  readonly next: string | null
}
export interface StreamLine {
  /** JSON, without a line end. */
  readonly text: string
  /** The same, read. */
  readonly fields: Readonly<Record<string, unknown>>
  /** They grow, and need not be dense. */
  readonly sequence: number
  readonly cursor: string
  /** ISO 8601. */
  readonly at: string
}

/** The server does not have the cursor: it was pruned, or it is of a history that a restore or a failover has ended. */
export interface LostPlace {
  readonly oldest: number
  /** Before the oldest line that the server keeps. */
  readonly startCursor: string
}
export const isLost = (page: StreamPage | LostPlace): page is LostPlace => 'oldest' in page

/** A line that the server has written: sequence, cursor and time are fields of it. */
export function lineOf(text: string): StreamLine {
  const fields = JSON.parse(text) as { readonly sequence: number; readonly cursor: string; readonly at: string }
  const { sequence, cursor, at } = fields
  return { text, fields: { ...fields }, sequence, cursor, at }
}
