import { createHmac } from 'node:crypto'
import type { Client } from '../store/client.ts'
import { bigint, integer, nothing, text } from '../store/column-types.ts'
import { INSTANCE } from '../store/log-mark.ts'
import { statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'
import { NUMBERING_LOCK } from './number-batches.ts'

/** The identity of a log, from its database. */
export interface LogIdentity {
  /** Id of the current epoch. */
  readonly logId: string
  /** Counts the histories that the log has had: 1 until its database was restored or failed over. */
  readonly epoch: number
  /** Up to this sequence all histories agree. */
  readonly epochBase: number
  /** The server and the database of the log. */
  readonly instance: string
  /** Signs announcements. Only processes on this very database have it. */
  readonly key: Uint8Array
}

const FORK_LOG = statement({
  text: 'select log_fork($1, $2, $3)',
  params: [bigint, integer, bigint],
  row: { log_fork: nothing },
})

/**
 * Ends the epoch of a log that differs from before although its database looks the same, because a copy of its files was
 * started in its place.
 * @param base up to this sequence the log is unchanged
 */
export async function forkLog(client: Client, { epoch }: LogIdentity, base: number): Promise<LogIdentity> {
  await FORK_LOG.query(client, [NUMBERING_LOCK, epoch, base])
  return await openLog(client)
}

const OPEN_LOG = statement({ text: `select log_open(${NUMBERING_LOCK})`, row: { log_open: nothing } })

const READ_IDENTITY = statement({
  text: `select log_id, epoch, epoch_base, announce_key, ${INSTANCE} as instance from log_meta`,
  row: {
    log_id: table.logMeta.logId,
    epoch: table.logMeta.epoch,
    epoch_base: table.logMeta.epochBase,
    announce_key: table.logMeta.announceKey,
    instance: text,
  },
})

/**
 * Begins an epoch when the log's database is another one than before: restored, promoted, or copied. A restart of the same
 * database changes only the instance.
 */
export async function openLog(client: Client): Promise<LogIdentity> {
  await OPEN_LOG.query(client, [])
  const { rows } = await READ_IDENTITY.query(client, [])
  const row = rows[0]
  if (!row) throw new Error('log_meta has no row: the database was not migrated.')
  const { log_id: logId, epoch, instance } = row
  const key = createHmac('sha256', row.announce_key).update(`${logId} ${instance}`).digest()
  return { logId, epoch, epochBase: row.epoch_base, instance, key }
}
