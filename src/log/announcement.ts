import type { PhaseChangeRecord } from '../core/ports.ts'

/** What a numberer tells all readers: these sequences are numbered and committed. */
export interface Announcement {
  readonly from: number
  readonly through: number
  /** All of them, in order; null when they are too many for a message: read them. */
  readonly changes: readonly PhaseChangeRecord[] | null
}

/** In UTF-16 units. Beyond it one query per reader costs less than the message. */
const MAX_MESSAGE = 262_144

export const logChannel = (logId: string): string => `phaseline:log:${logId}`

/** The order of a record's values in a message, which carries no names: they would be half of it. */
const FIELDS = [
  'sequence',
  'batchId',
  'idx',
  'objectId',
  'rootId',
  'parentId',
  'projectName',
  'kind',
  'name',
  'machine',
  'from',
  'to',
  'actor',
  'by',
  'reason',
  'message',
  'jobId',
  'revision',
  'rejected',
  'at',
] as const satisfies readonly (keyof PhaseChangeRecord)[]

const INDEX = Object.fromEntries(FIELDS.map((field, i) => [field, i])) as Readonly<
  Record<keyof PhaseChangeRecord, number>
>

type Row = readonly unknown[]
type Wire = Omit<Announcement, 'changes'> & { readonly changes: readonly Row[] | null }

/** @param origin without a blank */
export function encode({ from, through, changes }: Announcement, origin: string): string {
  const rows = changes?.map((change): Row => FIELDS.map((field) => change[field])) ?? null
  const message = JSON.stringify({ from, through, changes: rows } satisfies Wire)
  const short = message.length <= MAX_MESSAGE
  return `${origin} ${short ? message : JSON.stringify({ from, through, changes: null } satisfies Wire)}`
}

/** Who has published it, without looking at the rest. */
export const originOf = (message: string): string => message.slice(0, message.indexOf(' '))

/** Null for what is no announcement, or not a whole one: the reader then looks for itself. */
export function decode(message: string): Announcement | null {
  try {
    const { from, through, changes } = JSON.parse(message.slice(message.indexOf(' '))) as Wire
    if (!(Number.isSafeInteger(from) && Number.isSafeInteger(through) && from <= through)) return null
    if (changes === null) return { from, through, changes }
    const isWhole = changes.length === through - from + 1
    if (!isWhole || changes.some((row, i) => row.length !== FIELDS.length || row[0] !== from + i)) return null
    return { from, through, changes: changes.map(recordOf) }
  } catch {
    return null
  }
}

type Values = { readonly [K in keyof PhaseChangeRecord]: K extends 'at' ? string : PhaseChangeRecord[K] }

// Written out, since all records of one shape are quicker to filter than those of one that is made up on the way.
function recordOf(row: Row): PhaseChangeRecord {
  const value = <K extends keyof Values>(field: K): Values[K] => row[INDEX[field]] as Values[K]
  return {
    sequence: value('sequence'),
    batchId: value('batchId'),
    idx: value('idx'),
    objectId: value('objectId'),
    rootId: value('rootId'),
    parentId: value('parentId'),
    projectName: value('projectName'),
    kind: value('kind'),
    name: value('name'),
    machine: value('machine'),
    from: value('from'),
    to: value('to'),
    actor: value('actor'),
    by: value('by'),
    reason: value('reason'),
    message: value('message'),
    jobId: value('jobId'),
    revision: value('revision'),
    rejected: value('rejected'),
    at: new Date(value('at')),
  }
}
