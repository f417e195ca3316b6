import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { LogIdentity } from './identity.ts'
import { blankRecord, FIELDS, type Field } from './record.ts'
import type { NumberedTrace } from './trace-delivery.ts'

/** A numberer's message to all readers: these sequences are numbered and committed. */
export interface Announcement {
  /** The database that numbered them. */
  readonly instance: string
  readonly from: number
  readonly through: number
  /** All changes, in order; null when they are too many for a message: then read them. */
  readonly changes: readonly PhaseChangeRecord[] | null
  /** Traces of sampled changes. */
  readonly traces: readonly NumberedTrace[]
}

/** In UTF-16 units. A longer message costs more than one query per reader. */
const MAX_MESSAGE = 262_144

export const logChannel = (logId: string): string => `phaseline:log:${logId}`

/**
 * The order of a record's first values in a message, which has no names: they would be half of it. Processes of the release before expect
 * just these; fields that came later are sent by name.
 */
const UNNAMED = [
  'sequence',
  'batchId',
  'idx',
  'objectId',
  'rootId',
  'parentId',
  'projectId',
  'projectName',
  'kind',
  'name',
  'machine',
  'from',
  'to',
  'actor',
  'by',
  'byId',
  'reason',
  'message',
  'jobId',
  'revision',
  'rejected',
  'at',
] as const satisfies readonly Field[]
const NAMED = FIELDS.filter((field) => !(UNNAMED as readonly Field[]).includes(field))

type Row = readonly unknown[]
type Wire = Pick<Announcement, 'from' | 'through'> & {
  readonly changes: readonly Row[] | null
  /** The values of each further field, for each change. Absent: null for all. Fields that a process does not know are ignored. */
  readonly named?: Readonly<Record<string, readonly unknown[]>>
  /** Absent: none. Processes of earlier releases ignore it. */
  readonly traces?: readonly NumberedTrace[]
}
type Signer = Pick<LogIdentity, 'instance' | 'key'>

/**
 * Origin, signature and content, separated by blanks. Without the signature any publisher on Redis could put changes into a
 * stream; so could a copy of this database on the same Redis.
 * @param origin without a blank
 */
export function encode({ from, through, changes, traces }: Announcement, origin: string, { key }: Signer): string {
  const rows = changes?.map((change): Row => UNNAMED.map((field) => change[field])) ?? null
  const named = Object.fromEntries(NAMED.map((field) => [field, changes?.map((change) => change[field]) ?? []]))
  const common = { from, through, ...(traces.length > 0 ? { traces } : {}) }
  const message = JSON.stringify({ ...common, changes: rows, named } satisfies Wire)
  const short = message.length <= MAX_MESSAGE
  const content = short ? message : JSON.stringify({ ...common, changes: null } satisfies Wire)
  return `${origin} ${signature(content, key).toString('base64url')} ${content}`
}

const signature = (content: string, key: Uint8Array): Buffer => createHmac('sha256', key).update(content).digest()

/** The publisher of a message, without verifying it. */
export const originOf = (message: string): string => message.slice(0, message.indexOf(' '))

/** Null: the message is not signed by a process on this database, or is not a whole announcement. */
export function decode(message: string, { key, instance }: Signer): Announcement | null {
  const afterOrigin = message.indexOf(' ') + 1
  const afterSignature = message.indexOf(' ', afterOrigin) + 1
  if (afterOrigin === 0 || afterSignature === 0) return null
  const content = message.slice(afterSignature)
  const signed = Buffer.from(message.slice(afterOrigin, afterSignature - 1), 'base64url')
  const expected = signature(content, key)
  if (signed.length !== expected.length || !timingSafeEqual(signed, expected)) return null
  try {
    const { from, through, changes, named = {}, traces: sent } = JSON.parse(content) as Wire
    const traces = Array.isArray(sent) ? sent : []
    if (!(Number.isSafeInteger(from) && Number.isSafeInteger(through) && from <= through)) return null
    if (changes === null) return { instance, from, through, changes, traces }
    const isWhole = changes.length === through - from + 1
    if (!isWhole || changes.some((row, i) => row.length !== UNNAMED.length || row[0] !== from + i)) return null
    const records = changes.map((row, i) => recordOf(row, i, named))
    return { instance, from, through, changes: records, traces }
  } catch {
    return null
  }
}

function recordOf(row: Row, place: number, named: NonNullable<Wire['named']>): PhaseChangeRecord {
  const record = blankRecord()
  for (const [i, field] of UNNAMED.entries()) record[field] = row[i]
  for (const field of NAMED) record[field] = named[field]?.[place] ?? null
  record.at = new Date(record.at as string)
  return record as unknown as PhaseChangeRecord
}
