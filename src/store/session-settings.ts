import type { PoolConfig } from 'pg'

/** Settings of our sessions in Postgres, as they are sent at the start of a connection: `-c name=value …`. Pure. */

/**
 * Plans of named statements that are made on empty tables would scan them ever after, so plans use an index where there is one.
 */
const HOT = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off'
/** A statement after a lock must see what the lock's previous holder has committed. */
const READ_COMMITTED = '-c default_transaction_isolation=read\\ committed'
/** A plan for all values must be good for many rows; a bitmap scan sorts all of them, which only pays for few. */
const PLAN_ONCE = '-c plan_cache_mode=force_generic_plan -c enable_bitmapscan=off'
/** Ends the transaction of a process that is frozen or cut off, which would block its trees and projects. */
const UNFROZEN = '-c idle_in_transaction_session_timeout=10s'
/**
 * Longer than the holder of a lock may be frozen: a statement that waits longer is blocked by something that no timeout
 * ends.
 */
const LOCK_WAIT_MS = 35_000
/** The server's side of a connection whose client has gone without a word. Ignored on Unix sockets. */
const SERVER_KEEP_ALIVE =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=5 -c tcp_user_timeout=20s'

interface SessionChoice {
  readonly planOnce?: boolean
  readonly statementTimeoutMs?: number
  readonly lockTimeoutMs?: number
}

export const optionsOf = ({
  planOnce = false,
  statementTimeoutMs = 0,
  lockTimeoutMs = LOCK_WAIT_MS,
}: SessionChoice): string =>
  [
    ...[HOT, READ_COMMITTED, UNFROZEN, `-c lock_timeout=${lockTimeoutMs}`, SERVER_KEEP_ALIVE],
    ...[`-c statement_timeout=${statementTimeoutMs}`, ...(planOnce ? [PLAN_ONCE] : [])],
  ].join(' ')

/** Takes the options out of the URL and puts them after ours, so that they have the last word: the driver would let those replace ours. */
export function splitOptions(
  { connectionString, ...config }: PoolConfig,
  ours: string,
): { readonly config: PoolConfig; readonly options: string } {
  if (connectionString === undefined) return { config, options: ours }
  const url = new URL(connectionString)
  const options = [ours, url.searchParams.get('options')].filter(Boolean).join(' ')
  url.searchParams.delete('options')
  return { config: { ...config, connectionString: url.href }, options }
}

const SETTING = /(?:-c\s*|--)(?<name>[\w.-]+)=(?<value>(?:\\.|[^\s\\])*)/g

/** Names and values. */
export const settingsOf = (options: string): readonly (readonly [string, string])[] =>
  [...options.matchAll(SETTING)].map(({ groups: { name = '', value = '' } = {} }) => [
    name.replaceAll('-', '_'),
    value.replace(/\\(.)/g, '$1'),
  ])
