import type { Counts } from '../counts.ts'

/** Measurements of a process's engine and of the database, for metrics. */

export interface EngineCounts {
  /** By how they ended. */
  readonly transactions: Pick<Counts<'outcome'>, 'entries'>
  /** Attempts of the engine at due trees, by how they ended. */
  readonly reconciles: Pick<Counts<'outcome'>, 'entries'>
  /** Committed phase changes. */
  readonly transitions: Pick<Counts<'kind' | 'to'>, 'entries'>
}

/** Connections of one of the pools that a process has. */
export interface PoolFacts {
  readonly name: string
  readonly open: number
  readonly idle: number
  readonly waiting: number
  readonly most: number
}

/** A number with labels, of a metric. */
export interface Figure {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}
/** Figures from the database by metric name; absent: the query failed. */
export type Figures = Readonly<Partial<Record<FigureName, readonly Figure[]>>>

/** Queries on tables read this many rows at most. */
export const FIGURE_ROWS = 10_000
/** Types of work that have a number of their own; those with the least work have none. */
export const FIGURE_TYPES = 60

const UP_TO = `at most ${FIGURE_ROWS.toLocaleString('en')}`

/** Metrics from the database; every process reports the same. */
export const FIGURES = {
  trees_due: {
    help: `Trees whose clock has run out (clock), or that others have woken (wake); ${UP_TO} each.`,
    labels: ['by'],
  },
  trees_oldest_due_seconds: {
    help: 'Time since the clock of the most overdue tree ran out; 0: none is due.',
    labels: [],
  },
  trees_failing: {
    help: 'Trees whose last reconcile has failed, so that they wait for a further attempt, among those that are due first.',
    labels: [],
  },
  work: {
    help: `Open work by type and state (offered, deferred, claimed); ${UP_TO} of each state, and at most ${FIGURE_TYPES} series.`,
    labels: ['type', 'state'],
  },
  work_oldest_seconds: { help: 'Time since the oldest of this work was triggered.', labels: ['type', 'state'] },
  leases_expired: { help: 'Claimed work whose lease has ended, and which is not offered again yet.', labels: [] },
  slots: {
    help: 'Workers and jobs that wait for a slot (waiting) or have one (holding), by pool.',
    labels: ['pool', 'state'],
  },
  slots_capacity: { help: 'Slots of the whole instance, by pool.', labels: ['pool'] },
  resource_locks_waiting: { help: 'Tasks that wait for a lock of a resource.', labels: [] },
  agents: { help: 'Agents that were heard of in the last minute, by actor.', labels: ['actor'] },
  log_unnumbered: { help: 'Committed batches of changes without a place in the log.', labels: [] },
  log_oldest_seconds: { help: 'Age of the oldest change in the log: beyond the retention, pruning lags.', labels: [] },
  audit_unchained: { help: 'Events of the audit without a place in the chain.', labels: [] },
  database_lock_waits: {
    help: 'Connections of the database that wait for a lock, of all processes together.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, { readonly help: string; readonly labels: readonly string[] }>>
export type FigureName = keyof typeof FIGURES
