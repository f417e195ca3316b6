import type { LimitSetting } from './gateway-limits.ts'

/** How long a process waits for its database, in milliseconds. */
export interface DatabaseDeadlines {
  /** Until a new connection is usable. */
  readonly connectTimeoutMs: number
  /** Until one of the pool's connections is free. */
  readonly poolTimeoutMs: number
  /** Without a byte from the database while a statement waits. Then the database must say that it works on the statement. */
  readonly silenceMs: number
  /** At start, for a database that is not there yet. */
  readonly startTimeoutMs: number
}

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/**
 * Together they bound what a request waits for a database that swallows everything: at most one wait for a connection, or
 * one silence and one attempt to connect.
 */
export const DATABASE_DEADLINES = {
  connectTimeoutMs: {
    setting: 'PHASELINE_DATABASE_CONNECT_TIMEOUT_MS',
    byDefault: 4 * SECOND,
    least: 100,
    most: HOUR,
  },
  poolTimeoutMs: { setting: 'PHASELINE_DATABASE_POOL_TIMEOUT_MS', byDefault: 8 * SECOND, least: 100, most: HOUR },
  silenceMs: { setting: 'PHASELINE_DATABASE_SILENCE_MS', byDefault: 4 * SECOND, least: 100, most: HOUR },
  startTimeoutMs: { setting: 'PHASELINE_DATABASE_START_TIMEOUT_MS', byDefault: 60 * SECOND, least: 0, most: HOUR },
} as const satisfies Readonly<Record<keyof DatabaseDeadlines, LimitSetting>>

export const DEFAULT_DEADLINES = Object.fromEntries(
  Object.entries(DATABASE_DEADLINES).map(([name, { byDefault }]) => [name, byDefault]),
) as object as DatabaseDeadlines
