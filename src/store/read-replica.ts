import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { Counts } from '../core/counts.ts'
import { bigint, boolean, integer, nullable, text, uuid } from './column-types.ts'
import { INSTANCE } from './log-mark.ts'
import { statement } from './statement.ts'

/** How long a read waits for the replica to have what was committed before, in milliseconds. */
const WAIT_MS = 100
/** Interval of polling a replica's position. */
const LOOK_MS = 2
/** How long a connection may take, in milliseconds. */
const CONNECT_MS = 500
/** After a read that a replica could not answer, others go to the primary at once for so long, in milliseconds. */
const LEFT_ALONE_MS = { behind: 1_000, away: 5_000, other_history: 5_000 } as const

/** The primary's position; a replica that has reached it has everything committed before. */
export interface ReadPosition {
  /** Bytes of the write-ahead log. */
  readonly wal: number
  readonly logId: string
  readonly epoch: number
}

/** A replica answered a read, or why the primary did: the replica was behind, away, of another history, or failed in the middle. */
type ReadOutcome = 'replica' | 'failed' | Obstacle
type Obstacle = keyof typeof LEFT_ALONE_MS

// A transaction that does not wait for its flush is committed before it.
const POSITION = statement({
  text: `select (case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end
      - '0/0'::pg_lsn)::bigint as wal, log_id as "logId", epoch, ${INSTANCE} as instance from log_meta`,
  row: { wal: bigint, logId: uuid, epoch: integer, instance: text },
})
const REPLAYED = statement({
  text: `select pg_is_in_recovery() as "isStandby", (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint as wal, log_id as "logId", epoch
    from log_meta`,
  row: { isStandby: boolean, wal: nullable(bigint), logId: uuid, epoch: integer },
})

interface ReadReplicaOptions {
  readonly primary: Pool
  /** Owned by the caller. Its connections may lead to several replicas. */
  readonly pool: Pool
  /** The primary's instance, as this process has opened its log. */
  instance(): string
}

/**
 * Replicas for reads that see everything committed before they began: the primary reports its position, and a
 * connection to a replica is used once it has reached it. If anything fails, the read uses the primary.
 */
export class ReadReplica {
  /** Statements by what came of them. */
  readonly counts = new Counts<'outcome'>()
  readonly #options: ReadReplicaOptions
  /** The last known position of the replica behind a connection. */
  readonly #seen = new WeakMap<PoolClient, ReadPosition>()
  #running: Promise<unknown> = Promise.resolve()
  #next: Promise<ReadPosition | null> | null = null
  #leftAlone: { readonly why: Obstacle; readonly until: number } | null = null

  constructor(options: ReadReplicaOptions) {
    this.#options = options
  }

  /** Null: it is not known, or the database of this process may be another one than before. */
  position(): Promise<ReadPosition | null> {
    // A running query may be older than the caller's last commit, so the caller joins the next one.
    this.#next ??= this.#running.then(() => {
      this.#next = null
      const asked = this.#ask()
      this.#running = asked
      return asked
    })
    return this.#next
  }

  async #ask(): Promise<ReadPosition | null> {
    try {
      const { rows } = await POSITION.query(this.#options.primary, [])
      const [row] = rows
      return row && row.instance === this.#options.instance() ? row : null
    } catch {
      // The read itself reports what is wrong with the primary.
      return null
    }
  }

  count(outcome: ReadOutcome): void {
    this.counts.add({ outcome })
  }

  /** A connection that has all up to the position. Null: none has in time. */
  async connect(position: ReadPosition): Promise<PoolClient | null> {
    if (this.#leftAlone && performance.now() < this.#leftAlone.until) {
      this.count(this.#leftAlone.why)
      return null
    }
    const client = await this.#client()
    const obstacle = client ? await this.#obstacle(client, position).catch(() => 'away' as const) : 'away'
    if (obstacle === null) return client
    client?.release(obstacle === 'away')
    this.#leftAlone = { why: obstacle, until: performance.now() + LEFT_ALONE_MS[obstacle] }
    this.count(obstacle)
    return null
  }

  async #client(): Promise<PoolClient | null> {
    const connecting = this.#options.pool.connect()
    const timer = new AbortController()
    const late = delay(CONNECT_MS, null, { signal: timer.signal }).catch(() => null)
    try {
      const client = await Promise.race([connecting, late])
      if (client) return client
      void connecting.then((unused) => unused.release()).catch(() => undefined)
    } catch {
      // The owner of the pool reports it.
    } finally {
      timer.abort()
    }
    return null
  }

  /** Null: the replica behind the connection is as far. */
  async #obstacle(client: PoolClient, wanted: ReadPosition): Promise<Obstacle | null> {
    const seen = this.#seen.get(client)
    if (seen && isSameLog(seen, wanted) && seen.wal >= wanted.wal) return null
    for (const endsAt = performance.now() + WAIT_MS; ; await delay(LOOK_MS)) {
      const { rows } = await REPLAYED.query(client, [])
      const [row] = rows
      // One that was promoted answers for itself, and may lack what the primary has.
      if (!row?.isStandby || row.wal === null || !isSameLog(row, wanted)) return 'other_history'
      this.#seen.set(client, { wal: row.wal, logId: row.logId, epoch: row.epoch })
      if (row.wal >= wanted.wal) return null
      if (performance.now() > endsAt) return 'behind'
    }
  }
}

const isSameLog = (a: Omit<ReadPosition, 'wal'>, b: Omit<ReadPosition, 'wal'>): boolean =>
  a.logId === b.logId && a.epoch === b.epoch
