/** Judges a process's health from its measurements. Pure. */

/** One reason to send work here, or not to. */
export interface HealthCheck {
  readonly name: HealthCheckName
  readonly ok: boolean
  /** For anybody who can reach the port, so it names no address, no statement and no data. Null: it is fine. */
  readonly reason: string | null
}
export type HealthCheckName =
  | 'started'
  | 'draining'
  | 'agents'
  | 'gateway'
  | 'database'
  | 'schema'
  | 'writable'
  | 'pool'
  | 'numberer'
  | 'engine'
  | 'clock'

export interface HealthFacts {
  /** Null: it has not answered in time. NOT_ASKED: no connection was free to ask it on. */
  readonly database: DatabaseFacts | 'NOT_ASKED' | null
  /** Names the resource whose lack fails writes, in words for anybody; null: none is missing. */
  readonly shortage: string | null
  /** Milliseconds for which a request has been waiting for a connection, at least. */
  readonly poolWaitMs: number
  /** Milliseconds since the clock of the database was read. */
  readonly clockAgeMs: number
  /** Null: this process has none. */
  readonly engine: EngineFacts | null
}
export interface DatabaseFacts {
  /** Why this program must not work with its schema; null: it may. */
  readonly schemaProblem: string | null
  /** A standby, or one that takes no writes. */
  readonly isReadOnly: boolean
  /** Each write fails: the sequence of the log's batches gives numbers that are taken, and could not catch up. */
  readonly isLogBehind: boolean
  /** Milliseconds for which the same batch of the log has been without a number, at least. */
  readonly unnumberedMs: number
  /** Milliseconds by which a tree is overdue; at most 0: none is. */
  readonly overdueMs: number
}
export interface EngineFacts {
  /** Milliseconds since the last search for due trees. */
  readonly lookedAgoMs: number
  /** Milliseconds since it has last finished with a tree, in whatever way. */
  readonly workedAgoMs: number
}

/** Milliseconds. Each is several times what a busy process needs, so that load alone takes no process out of service. */
export const HEALTH_BOUNDS = {
  answer: 2_000,
  poolWait: 5_000,
  unnumbered: 10_000,
  engine: 30_000,
  /** Between two readings a clock drifts by a thousandth of this at most. */
  clockAge: 60_000,
} as const

export const check = (name: HealthCheckName, problem: string | false): HealthCheck =>
  problem === false ? { name, ok: true, reason: null } : { name, ok: false, reason: problem }

export function judgeHealth({
  database: found,
  shortage,
  poolWaitMs,
  clockAgeMs,
  engine,
}: HealthFacts): readonly HealthCheck[] {
  const bounds = HEALTH_BOUNDS
  const database = found === 'NOT_ASKED' ? null : found
  return [
    check('database', found === null && 'the database does not answer'),
    // These need an answer of the database.
    ...(database
      ? [
          check('schema', database.schemaProblem ?? false),
          check('writable', whyNotWritable(database, shortage)),
          check(
            'numberer',
            database.unnumberedMs > bounds.unnumbered &&
              `changes have waited for ${seconds(database.unnumberedMs)} for their numbers`,
          ),
        ]
      : []),
    check('pool', poolWaitMs > bounds.poolWait && `requests have waited for ${seconds(poolWaitMs)} for a connection`),
    ...(engine ? [check('engine', whyNoBeat(engine, database?.overdueMs ?? 0))] : []),
    check('clock', clockAgeMs > bounds.clockAge && `the time of the database was read ${seconds(clockAgeMs)} ago`),
  ]
}

function whyNotWritable({ isReadOnly, isLogBehind }: DatabaseFacts, shortage: string | null): string | false {
  if (isReadOnly) return 'the database takes no writes: it is a standby, or set to read only'
  if (isLogBehind) return 'a sequence of the database is behind its table'
  return shortage ?? false
}

/**
 * A tree alone may be overdue for reasons of its own, and all engines see it. This engine fails when it works on none
 * meanwhile.
 */
function whyNoBeat({ lookedAgoMs, workedAgoMs }: EngineFacts, overdueMs: number): string | false {
  const { engine: bound } = HEALTH_BOUNDS
  if (lookedAgoMs > bound) return `the engine has not looked for due trees for ${seconds(lookedAgoMs)}`
  return (
    Math.min(overdueMs, workedAgoMs) > bound &&
    `trees have been due for ${seconds(overdueMs)}, and the engine finishes with none`
  )
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`

interface QueueLook {
  readonly at: number
  readonly waiting: number
  /** All that were served so far. */
  readonly served: number
}

/** Looks that are remembered. */
const MAX_LOOKS = 60

/** Measures how long requests wait in a first-come, first-served queue, by sampling it. */
export class QueueWatch {
  #looks: { readonly at: number; readonly servedBy: number }[] = []

  /** Milliseconds for which a request that waits now has been waiting, at least. */
  look({ at, waiting, served }: QueueLook): number {
    if (waiting === 0) this.#looks = []
    // Requests that waited then have been served since.
    else this.#looks = this.#looks.filter(({ servedBy }) => servedBy > served)
    if (waiting > 0 && this.#looks.length < MAX_LOOKS) this.#looks.push({ at, servedBy: served + waiting })
    return at - (this.#looks[0]?.at ?? at)
  }
}

/** Measures how long the same element has been first in a queue, by sampling it. */
export class FirstInLine {
  #seen: { readonly first: unknown; readonly at: number } | null = null

  /** @param first null: the line is empty */
  look(first: unknown, at: number): number {
    if (first === null) this.#seen = null
    else if (this.#seen?.first !== first) this.#seen = { first, at }
    return at - (this.#seen?.at ?? at)
  }
}
