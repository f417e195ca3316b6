import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { LogIdentity } from './identity.ts'
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

/** The order of a record's values in a message, which has no names: they would be half of it. */
const FIELDS = [
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
] as const satisfies readonly (keyof PhaseChangeRecord)[]
type Field = (typeof FIELDS)[number]

const INDEX = Object.fromEntries(FIELDS.map((field, i) => [field, i])) as Readonly<Record<Field, number>>

type Row = readonly unknown[]
type Wire = Pick<Announcement, 'from' | 'through'> & {
  readonly changes: readonly Row[] | null
  /** `parentPath` of each change. Processes of the release before neither send nor read it. */
  readonly paths?: readonly (string | null)[]
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
  const rows = changes?.map((change): Row => FIELDS.map((field) => change[field])) ?? null
  const paths = changes?.map(({ parentPath }) => parentPath) ?? []
  const common = { from, through, ...(traces.length > 0 ? { traces } : {}) }
  const message = JSON.stringify({ ...common, changes: rows, paths } satisfies Wire)
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
    const { from, through, changes, paths, traces: sent } = JSON.parse(content) as Wire
    const traces = Array.isArray(sent) ? sent : []
    if (!(Number.isSafeInteger(from) && Number.isSafeInteger(through) && from <= through)) return null
    if (changes === null) return { instance, from, through, changes, traces }
    const isWhole = changes.length === through - from + 1
    if (!isWhole || changes.some((row, i) => row.length !== FIELDS.length || row[0] !== from + i)) return null
    const records = changes.map((row, i) => recordOf(row, paths?.[i] ?? null))
    return { instance, from, through, changes: records, traces }
  } catch {
    return null
  }
}

type Values = { readonly [K in Field]: K extends 'at' ? string : PhaseChangeRecord[K] }

// Written out: objects of one literal share a hidden class, which makes them faster to filter.
function recordOf(row: Row, parentPath: string | null): PhaseChangeRecord {
  const value = <K extends keyof Values>(field: K): Values[K] => row[INDEX[field]] as Values[K]
  return {
    sequence: value('sequence'),
    batchId: value('batchId'),
    idx: value('idx'),
    objectId: value('objectId'),
    rootId: value('rootId'),
    parentId: value('parentId'),
    parentPath,
    projectId: value('projectId'),
    projectName: value('projectName'),
    kind: value('kind'),
    name: value('name'),
    machine: value('machine'),
    from: value('from'),
    to: value('to'),
    actor: value('actor'),
    by: value('by'),
    byId: value('byId'),
    reason: value('reason'),
    message: value('message'),
    jobId: value('jobId'),
    revision: value('revision'),
    rejected: value('rejected'),
    at: new Date(value('at')),
  }
}
