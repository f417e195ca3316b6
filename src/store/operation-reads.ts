import { connect } from 'node:net'
import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg'
import { DatabaseError } from 'pg'
import { CallbackClient } from './callback-client.ts'
import { type PoolShares, sharesOf } from './pool-shares.ts'
import type { ReadPosition, ReadReplica } from './read-replica.ts'
import { unavailableOf } from './unavailable.ts'

type Query = Parameters<Pool['query']>[0]

type Turn = () => Promise<void> | undefined

/** A caller that follows something. */
export interface LiveReader {
  readonly reads: {
    readonly caller: string
    read<T>(run: () => Promise<T>, mustRest: () => boolean, turn: Turn): Promise<T>
  }
  /** Waits for the turn of the same caller. */
  readonly turn: Turn
}
interface Reader {
  /** Shares the connections with others, whatever its operations. */
  readonly caller: string
  readonly replica?: ReadReplica | undefined
  /** For the events of a subscription: the live reads of a caller who follows it; null: there are no events yet. */
  readonly live?: () => LiveReader | null
}

/**
 * The pool as one operation reads from it, or replicas that are as far as the primary was when the operation began to read. When
 * the operation ends before its answer, Postgres ends the statements that run for it: they would keep connections from others.
 */
export class OperationReads {
  readonly pool: Pool
  readonly #reader: Reader
  readonly #running = new Set<CallbackClient>()
  #position: Promise<ReadPosition | null> | null = null
  /** The connection of the snapshot that all is read from; null: each statement has its own. */
  #snapshot: PoolClient | null = null
  #isEnded = false

  constructor(pool: Pool, reader: Reader) {
    this.pool = pool
    this.#reader = reader
  }

  get #replica(): ReadReplica | undefined {
    return this.#reader.replica
  }

  query<R extends QueryResultRow>(query: Query): Promise<QueryResult<R>> {
    return this.#snapshot ? this.#inSnapshot(this.#snapshot, query) : this.#inTurn(() => this.#query<R>(query))
  }

  inSnapshot<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (this.#snapshot) return work(this.#snapshot)
    return this.#inTurn(async () => {
      const client = await this.#replicaClient()
      if (client) this.#replica?.count('replica')
      return await snapshot(client ?? (await this.pool.connect()), work)
    })
  }

  /** All that the operation reads while it runs is as of one moment. */
  asOfOneMoment<T>(run: () => Promise<T>): Promise<T> {
    return this.inSnapshot(async (client) => {
      this.#snapshot = client
      if (client instanceof CallbackClient) this.#running.add(client)
      const result = await run().finally(() => {
        this.#snapshot = null
        if (client instanceof CallbackClient) this.#running.delete(client)
      })
      // As after a statement that was cancelled: nothing else may run on the connection.
      if (this.#isEnded) throw new Error(ENDED)
      return result
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const live = this.#reader.live?.()
    const caller = live?.reads.caller ?? this.#reader.caller
    const shares = sharesOf(this.pool)
    if (!live) return inShare(shares, caller, work)
    return live.reads.read(
      () => inShare(shares, caller, work),
      () => shares.isActiveBeside(caller),
      live.turn,
    )
  }

  async #query<R extends QueryResultRow>(query: Query): Promise<QueryResult<R>> {
    if (this.#isEnded) throw new Error(ENDED)
    const client = await this.#replicaClient()
    if (!(client && this.#replica)) return await this.#run(await this.pool.connect(), query)
    try {
      const result = await this.#run<R>(client, query)
      this.#replica.count('replica')
      return result
    } catch (error) {
      if (this.#isEnded || !mayBeOfReplica(error)) throw error
      this.#replica.count('failed')
      return await this.#run(await this.pool.connect(), query)
    }
  }

  async #run<R extends QueryResultRow>(client: PoolClient, query: Query): Promise<QueryResult<R>> {
    if (client instanceof CallbackClient) this.#running.add(client)
    let isUsable = false
    try {
      if (this.#isEnded) throw new Error(ENDED)
      const result = (await client.query(query as never)) as QueryResult<R>
      isUsable = !this.#isEnded
      return result
    } finally {
      if (client instanceof CallbackClient) this.#running.delete(client)
      // A request to cancel may come late: nothing else may run on the connection then.
      client.release(!isUsable)
    }
  }

  async #inSnapshot<R extends QueryResultRow>(client: PoolClient, query: Query): Promise<QueryResult<R>> {
    if (this.#isEnded) throw new Error(ENDED)
    return (await client.query(query as never)) as QueryResult<R>
  }

  /** Null: the primary answers. */
  async #replicaClient(): Promise<PoolClient | null> {
    if (!this.#replica || this.#isEnded) return null
    this.#position ??= this.#replica.position()
    const position = await this.#position
    return position && (await this.#replica.connect(position))
  }

  end(): void {
    this.#isEnded = true
    for (const client of this.#running) cancel(client)
  }
}

async function inShare<T>(shares: PoolShares, caller: string, work: () => Promise<T>): Promise<T> {
  const waiting = shares.take(caller)
  if (waiting) await waiting
  try {
    return await work()
  } finally {
    shares.giveBack(caller)
  }
}

const ENDED = 'the operation has ended'

/** Reads as of one moment, on a connection of the pool, or of the operation whose reads these are. */
export const inSnapshot = async <T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> =>
  (pool as unknown) instanceof OperationReads
    ? await (pool as unknown as OperationReads).inSnapshot(work)
    : await snapshot(await pool.connect(), work)

/** After a failure the connection may still be in the transaction, so it is closed. */
async function snapshot<T>(client: PoolClient, work: (client: PoolClient) => Promise<T>): Promise<T> {
  let isUsable = false
  try {
    await client.query('begin isolation level repeatable read read only')
    const result = await work(client)
    await client.query('commit')
    isUsable = true
    return result
  } finally {
    client.release(!isUsable)
  }
}

/** Postgres cancels a statement that keeps a standby from following. */
const CONFLICT = '40001'

/** Errors that say nothing about the statement itself. */
const mayBeOfReplica = (error: unknown): boolean =>
  unavailableOf(error) !== null || (error instanceof DatabaseError && error.code === CONFLICT)

/** The pool behind an operation's reads, for callers that cache something for each pool. */
export const poolItself = (pool: Pool): Pool =>
  (pool as unknown) instanceof OperationReads ? (pool as unknown as OperationReads).pool : pool

/** Runs what reads with the pool of an operation, all of it as of one moment. */
export const asOfOneMoment = <T>(pool: Pool, run: () => Promise<T>): Promise<T> =>
  (pool as unknown as OperationReads).asOfOneMoment(run)

/** Reads of an operation in place of its pool, which has the methods that readers use. */
export const asPool = (reads: OperationReads): Pool => reads as unknown as Pool

const CANCEL = 80_877_102
const CANCEL_MS = 5_000

/** Asks Postgres to cancel what runs on a connection. Nothing says whether it does: the statement fails, or has been quicker. */
function cancel({ host, port, cancelKey }: CallbackClient): void {
  if (cancelKey === null) return
  const message = Buffer.alloc(12 + cancelKey.secret.length)
  message.writeInt32BE(message.length, 0)
  message.writeInt32BE(CANCEL, 4)
  message.writeInt32BE(cancelKey.pid, 8)
  cancelKey.secret.copy(message, 12)
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  socket.setTimeout(CANCEL_MS, () => socket.destroy())
  // Without the request the statement ends by its time limit.
  socket.on('error', () => socket.destroy())
  socket.end(message)
}
