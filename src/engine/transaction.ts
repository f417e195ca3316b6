import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { DatabaseUnavailable, isDatabaseAway } from '../core/database-unavailable.ts'
import type { InFlight } from '../core/in-flight.ts'
import type { Logger } from '../logger.ts'
import { awaitAll } from '../store/await-all.ts'
import { text } from '../store/column-types.ts'
import { isLockTimeout } from '../store/lock-timeout.ts'
import { catchUpSequences, isGivenTwice } from '../store/sequences.ts'
import { declare, statement } from '../store/statement.ts'
import { isTracing } from '../tracing/spans.ts'
import { LockedPlaces } from './agents/locked-places.ts'
import type { TreeCounts } from './engine-counts.ts'
import type { LockWaits } from './lock-waits.ts'
import { captureTrace, type RequestTrace, TransactionTrace } from './transaction-trace.ts'

/** Events for other parts of this process, and for other processes, published after the commit. */
export interface CommitEvents {
  /** Trees that wait to be decided. */
  readonly rootsToWake: Set<string>
  /** Types of work that agents can claim. */
  readonly workTypes: Set<string>
  /** The log has batches to number. */
  hasChanges: boolean
  /** Waiting claims got work in this transaction. */
  hasDispatched: boolean
}

/** A tree that a transaction has locked or created; its changes are written when the transaction closes. */
export interface Flushable {
  /** Writes all trees of the transaction, this one with them. */
  flush(trees: readonly this[]): Promise<void>
}

// Named, like every statement that is pipelined with its neighbours.
const BEGIN = declare({ name: 'begin', text: 'begin', params: [], row: {} })
const COMMIT = declare({ name: 'commit', text: 'commit', params: [], row: {} })

/** Longer than the locks that all trees of a family need are held, and shorter than others notice. */
const BRIEF_WAITS = statement({
  name: 'brief-waits',
  text: `select set_config('lock_timeout', '25ms', true)`,
  row: { set_config: text },
})

/** One database transaction: its connection, the trees it touches, and the hooks of its end. */
export class Transaction {
  readonly client: PoolClient
  /** Null: nothing is traced. */
  readonly trace: TransactionTrace | null
  readonly events: CommitEvents = {
    rootsToWake: new Set(),
    workTypes: new Set(),
    hasChanges: false,
    hasDispatched: false,
  }
  readonly places = new LockedPlaces()
  readonly #trees: Flushable[] = []
  /** Sent statements of which only the success matters, so that the commit need not wait for them. */
  readonly pipelined: Promise<unknown>[] = []
  readonly #commitHooks: (() => void)[] = []
  readonly #rollbackHooks: (() => void)[] = []
  #failure: { readonly error: unknown } | null = null

  constructor(client: PoolClient, trace: TransactionTrace | null = null) {
    this.client = client
    this.trace = trace
    // Not awaited: if BEGIN fails, the connection is lost, and the statements sent with it fail too.
    this.pipeline([client.query(BEGIN)])
  }

  /** Writes the tree when the transaction closes. */
  enlist(tree: Flushable): void {
    this.#trees.push(tree)
  }
  /** Runs synchronously after the commit, in the order of registration. */
  onCommit(hook: () => void): void {
    this.#commitHooks.push(hook)
  }
  /** Runs synchronously after a rollback. */
  onRollback(hook: () => void): void {
    this.#rollbackHooks.push(hook)
  }
  /** Takes sent statements of which only the success matters: the commit is pipelined with them. */
  pipeline(sent: readonly Promise<unknown>[]): void {
    for (const statement of sent) {
      this.pipelined.push(statement)
      statement.catch((error: unknown) => {
        this.#failure ??= { error }
      })
    }
  }

  /** Writes the trees in one go, the log of each last. */
  async flush(): Promise<void> {
    await this.#trees[0]?.flush(this.#trees)
    // A statement that could not even be sent must not be missing from what is committed.
    if (this.#failure) throw this.#failure.error
  }

  /** The first error of the transaction, since statements after a failed one only report that it has failed. */
  causeOf(error: unknown): unknown {
    const isConsequence = error instanceof DatabaseError && error.code === IN_FAILED_TRANSACTION
    return isConsequence && this.#failure ? this.#failure.error : error
  }

  /** Returns the error of a connection that cannot even roll back. */
  async rollback(): Promise<Error | undefined> {
    const broken = await this.client.query('rollback').then(
      () => undefined,
      (error: Error) => error,
    )
    for (const hook of this.#rollbackHooks) hook()
    return broken
  }

  committed(): void {
    for (const hook of this.#commitHooks) hook()
  }
}

/** The callers of a transaction without a lane. */
function asking(): readonly RequestTrace[] {
  const own = captureTrace()
  return own ? [own] : []
}

/** Sent over this connection so far; those of other transactions come before or after. */
const statementsOf = (client: PoolClient): number => (client as { statements?: number }).statements ?? 0

const IN_FAILED_TRANSACTION = '25P02'

export interface TransactionParts {
  readonly pool: Pool
  /** Called after each commit. */
  readonly publish: (events: CommitEvents) => void
  readonly counts?: Pick<TreeCounts, 'committed' | 'failed'>
  /** The end of the process closes it: no transaction begins afterwards. */
  readonly inFlight: InFlight
  readonly logger: Logger
  /** Absent: it waits for locks as its connections do. */
  readonly lockWaits?: Pick<LockWaits, 'isTense' | 'timedOut'>
}

/**
 * Runs `work` in one transaction, writes the trees that it has touched, commits, and publishes the events.
 * @throws DatabaseUnavailable also while the process ends
 */
export function transaction<T>(
  parts: TransactionParts,
  work: (tx: Transaction) => Promise<T>,
  asked?: readonly RequestTrace[],
): Promise<T> {
  const { inFlight } = parts
  if (inFlight.isClosed) return Promise.reject(new DatabaseUnavailable('the process ends'))
  return inFlight.track(run(parts, work, asked))
}

async function run<T>(
  { pool, publish, counts, logger, lockWaits }: TransactionParts,
  work: (tx: Transaction) => Promise<T>,
  asked?: readonly RequestTrace[],
): Promise<T> {
  const trace = isTracing() ? new TransactionTrace(asked ?? asking()) : null
  const client = await pool.connect()
  trace?.connected()
  const statements = statementsOf(client)
  const tx = new Transaction(client, trace)
  if (lockWaits?.isTense) tx.pipeline([BRIEF_WAITS.query(client, [])])
  let broken: Error | undefined
  let result: T
  try {
    result = await work(tx)
    await tx.flush()
    const [{ command }] = await awaitAll([client.query(COMMIT), ...tx.pipelined])
    // Postgres answers COMMIT of a failed transaction with ROLLBACK, without an error.
    if (command !== 'COMMIT')
      throw new Error(`a transaction ended with ${command}, though none of its statements failed`)
  } catch (error) {
    broken = await tx.rollback()
    const cause = tx.causeOf(error)
    if (isLockTimeout(cause)) lockWaits?.timedOut()
    counts?.failed(cause)
    trace?.end(statementsOf(client) - statements, { error: cause })
    if (isGivenTwice(cause) && !broken) {
      await catchUpSequences(client, logger)
      throw new DatabaseUnavailable('a sequence was behind its table', { cause })
    }
    // It may lead to a server that has become a standby.
    if (isDatabaseAway(cause)) broken ??= cause as Error
    throw cause
  } finally {
    // The pool does not get back a connection that cannot roll back, or has no database behind it.
    client.release(broken)
  }
  counts?.committed()
  trace?.end(statementsOf(client) - statements, null)
  tx.committed()
  // Waiting claims are answered before the caller continues.
  if (tx.events.hasDispatched) await yieldToOthers()
  publish(tx.events)
  return result
}
