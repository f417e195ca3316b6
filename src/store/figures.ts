import type { Pool } from 'pg'
import { FIGURE_ROWS, FIGURE_TYPES, type Figure, type FigureName, type Figures } from '../core/ports/measured.ts'
import { float8, integer, nullable, text } from './column-types.ts'
import { statement } from './statement.ts'

/** Milliseconds for which one reading serves all who ask. */
const FRESH_MS = 5_000
/** Milliseconds for all queries together. Figures that are later are omitted. */
const ANSWER_MS = 2_000

/** Bounds the rows that a query reads. */
const some = (rows: string): string => `(${rows} limit ${FIGURE_ROWS})`
const count = (rows: string): string => `(select count(*) from ${some(rows)} s)::int`

const TREES = statement({
  text: `select ${count('select 1 from root_queue where wake_at <= clock_timestamp()')} as clock,
      (select count(distinct root_id) from ${some('select root_id from wake')} w)::int as wake,
      (select count(*) from ${some('select failures from root_queue order by wake_at')} q where failures > 0)::int as failing,
      (select extract(epoch from clock_timestamp() - min(wake_at))::float8 from root_queue) as overdue`,
  row: { clock: integer, wake: integer, failing: integer, overdue: nullable(float8) },
})
const WORK = statement({
  text: `select type, state, count(*)::int as count, extract(epoch from clock_timestamp() - min(triggered_at))::float8 as oldest
      from (
        select type, triggered_at, 'offered' as state
          from ${some('select type, triggered_at from work where state = 0 and offer_after is null')} o
        union all select type, triggered_at, 'deferred'
          from ${some('select type, triggered_at from work where state = 0 and offer_after is not null')} d
        union all select type, triggered_at, 'claimed' from ${some('select type, triggered_at from work where state = 1 and lease_until is not null')} c
      ) w group by type, state order by count(*) desc limit ${FIGURE_TYPES}`,
  row: { type: text, state: text, count: integer, oldest: float8 },
})
const AGENTS = statement({
  text: `select actor::text as actor, count(*)::int as count from ${some('select actor, seen_at from agent')} a
      where seen_at > clock_timestamp() - interval '1 minute' group by actor`,
  row: { actor: nullable(text), count: integer },
})
const SLOTS = statement({
  text: `select pool, state, count(*)::int as count from (
        select pool, 'waiting' as state from ${some('select pool from workload where state = 0')} w
        union all select pool, 'holding' from ${some('select pool from workload where state = 1')} h
      ) s group by pool, state`,
  row: { pool: text, state: text, count: integer },
})
const CAPACITY = statement({
  text: 'select max_workers as workers, max_jobs as jobs from capacity',
  row: { workers: integer, jobs: integer },
})
const LINES = statement({
  text: `select ${count('select 1 from work where state = 1 and lease_until <= clock_timestamp()')} as leases,
      ${count('select 1 from lock where not held')} as locks,
      ${count('select 1 from log_batch where first_seq is null')} as unnumbered,
      ${count('select 1 from audit_event where sequence is null')} as unchained,
      (select extract(epoch from clock_timestamp() - at[1])::float8 from log_content order by batch_id limit 1) as oldest`,
  row: { leases: integer, locks: integer, unnumbered: integer, unchained: integer, oldest: nullable(float8) },
})
const WAITS = statement({
  text: `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  row: { count: integer },
})

const one = (value: number | null | undefined): readonly Figure[] => [{ value: Math.max(0, value ?? 0) }]

/** Separate queries, so that a failure of one leaves the others. */
const QUESTIONS: readonly ((pool: Pool) => Promise<Figures>)[] = [
  async (pool) => {
    const [row] = (await TREES.query(pool, [])).rows
    const due = [
      { labels: { by: 'clock' }, value: row?.clock ?? 0 },
      { labels: { by: 'wake' }, value: row?.wake ?? 0 },
    ]
    return { trees_due: due, trees_failing: one(row?.failing), trees_oldest_due_seconds: one(row?.overdue) }
  },
  async (pool) => {
    const { rows } = await WORK.query(pool, [])
    const of = (value: (row: (typeof rows)[number]) => number) =>
      rows.map((row) => ({ labels: { type: row.type, state: row.state }, value: value(row) }))
    return { work: of((row) => row.count), work_oldest_seconds: of(({ oldest }) => Math.max(0, oldest)) }
  },
  async (pool) => ({
    agents: (await AGENTS.query(pool, [])).rows.map(({ actor, count: value }) => ({
      labels: { actor: actor ?? '' },
      value,
    })),
  }),
  async (pool) => ({
    slots: (await SLOTS.query(pool, [])).rows.map(({ count: value, ...labels }) => ({ labels, value })),
  }),
  async (pool) => {
    const [row] = (await CAPACITY.query(pool, [])).rows
    return {
      slots_capacity: [
        { labels: { pool: 'WORKER' }, value: row?.workers ?? 0 },
        { labels: { pool: 'JOB' }, value: row?.jobs ?? 0 },
      ],
    }
  },
  async (pool) => {
    const [row] = (await LINES.query(pool, [])).rows
    return {
      ...{ leases_expired: one(row?.leases), resource_locks_waiting: one(row?.locks) },
      ...{ log_unnumbered: one(row?.unnumbered), audit_unchained: one(row?.unchained) },
      log_oldest_seconds: one(row?.oldest),
    }
  },
  async (pool) => ({ database_lock_waits: one((await WAITS.query(pool, [])).rows[0]?.count) }),
]

/** Figures from the database for metrics, cached so that any number of readers causes few queries. */
export class FigureReader {
  readonly #pool: Pool
  #reading: Promise<Figures> | null = null

  /** @param pool whose statements end in time */
  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Never rejects: what could not be read is absent. */
  read(): Promise<Figures> {
    this.#reading ??= this.#readAll().finally(() => {
      setTimeout(() => {
        this.#reading = null
      }, FRESH_MS).unref()
    })
    return this.#reading
  }

  async #readAll(): Promise<Figures> {
    const figures: Partial<Record<FigureName, readonly Figure[]>> = {}
    const reading = Promise.all(
      QUESTIONS.map((ask) =>
        ask(this.#pool).then(
          (answer) => void Object.assign(figures, answer),
          () => undefined,
        ),
      ),
    )
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, ANSWER_MS)
    await Promise.race([reading, late.promise])
    clearTimeout(timer)
    return { ...figures }
  }
}
