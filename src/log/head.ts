import type { LogCursor } from '../core/ports/log.ts'
import type { Client } from '../store/client.ts'
import { array, bigint, nullable, text } from '../store/column-types.ts'
import { HEAD, INSTANCE, markOfFields, markSql } from '../store/log-mark.ts'
import { type RowOf, statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'

/** The range of the log: the sequences after `floor` and up to `head`; and its identity. */
export interface LogHead {
  readonly epoch: number
  readonly instance: string
  readonly floor: number
  readonly head: number
}

/** One row `epoch, instance, floor_seq, head`. */
export const HEAD_SQL = `select m.epoch, ${INSTANCE} as instance, m.floor_seq, ${HEAD} as head from log_meta m`

/** The columns of `HEAD_SQL`. */
export const HEAD_ROW = { epoch: table.logMeta.epoch, instance: text, floor_seq: table.logMeta.floorSeq, head: bigint }
export type HeadRow = RowOf<typeof HEAD_ROW>

export const toHead = (row: HeadRow): LogHead => ({
  epoch: row.epoch,
  instance: row.instance,
  floor: row.floor_seq,
  head: row.head,
})

/** A sequence to look up, or an end of the log. */
export type LogPosition = number | 'floor' | 'head'

/** The change at a sequence; a null mark: there is none, or it is pruned. */
export interface Found extends LogHead, LogCursor {}

// Only the mark of the change at the floor is kept, for readers that resume there.
const LOOK_UP = statement({
  name: 'log_look_up',
  text: `with m as materialized (${HEAD_SQL})
  select m.*, s.sequence, ${markSql('s.sequence')} as fields,
    case when s.sequence = m.floor_seq then (select floor_mark from log_meta) end as floor_mark
  from m cross join lateral (
    select case k.sequence when -1 then m.head when -2 then m.floor_seq else k.sequence end as sequence, k.n
    from unnest($1::bigint[]) with ordinality k(sequence, n)
  ) s order by s.n`,
  params: [array(bigint)],
  row: {
    ...HEAD_ROW,
    sequence: bigint,
    fields: nullable(array(text)),
    floor_mark: nullable(text),
  },
})

/** Looks up all positions in one snapshot, in order; inside of a transaction, in its snapshot. */
export async function lookUp(client: Client, positions: readonly LogPosition[]): Promise<readonly Found[]> {
  const sequences = positions.map((one) => (one === 'head' ? -1 : one === 'floor' ? -2 : one))
  const { rows } = await LOOK_UP.query(client, [sequences])
  if (rows.length < positions.length) throw new Error('log_meta has no row: the database was not migrated.')
  return rows.map((row) => ({
    ...toHead(row),
    sequence: row.sequence,
    mark: markOfFields(row.fields) ?? row.floor_mark,
  }))
}

/** The head, with the mark of its change. */
export async function readHead(client: Client): Promise<Found> {
  const [found] = await lookUp(client, ['head'])
  return found as Found
}

const MAX_POSITIONS = 1_000

/** Looks up positions at once, or joins those that arrive during a look-up: a crowd of returning readers is one query. */
export class SharedLookUp {
  readonly #client: Client
  #waiting: { readonly position: LogPosition; readonly result: PromiseWithResolvers<Found> }[] = []
  #isRunning = false

  constructor(client: Client) {
    this.#client = client
  }

  /** The result is at least as recent as the call. */
  find(position: LogPosition): Promise<Found> {
    const result = Promise.withResolvers<Found>()
    this.#waiting.push({ position, result })
    if (!this.#isRunning) void this.#run()
    return result.promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // Calls of the same turn join it.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_POSITIONS)
      try {
        const found = await lookUp(
          this.#client,
          batch.map(({ position }) => position),
        )
        for (const [i, { result }] of batch.entries()) result.resolve(found[i] as Found)
      } catch (error) {
        for (const { result } of batch) result.reject(error)
      }
    }
    this.#isRunning = false
  }
}
