import type { PhaseChangeRecord } from '../core/ports.ts'

/** What a numberer tells all readers: these sequences are numbered and committed. */
export interface Announcement {
  readonly from: number
  readonly through: number
  /** All of them, in order; null when they are too many for a message: read them. */
  readonly changes: readonly PhaseChangeRecord[] | null
}

/** In UTF-16 units. Beyond it one query per reader costs less than the message. */
const MAX_MESSAGE = 65_536

export const logChannel = (logId: string): string => `phaseline:log:${logId}`

export function encode(announcement: Announcement): string {
  const message = JSON.stringify(announcement)
  return message.length <= MAX_MESSAGE ? message : JSON.stringify({ ...announcement, changes: null })
}

type Wire = Omit<Announcement, 'changes'> & {
  readonly changes: readonly (Omit<PhaseChangeRecord, 'at'> & { readonly at: string })[] | null
}

/** Null for what is no announcement, or not a whole one: the reader then looks for itself. */
export function decode(message: string): Announcement | null {
  try {
    const { from, through, changes } = JSON.parse(message) as Wire
    if (!(Number.isSafeInteger(from) && Number.isSafeInteger(through) && from <= through)) return null
    if (changes === null) return { from, through, changes }
    if (changes.length !== through - from + 1 || changes.some(({ sequence }, i) => sequence !== from + i)) return null
    return { from, through, changes: changes.map((change) => ({ ...change, at: new Date(change.at) })) }
  } catch {
    return null
  }
}
