import type { LogCursor } from '../core/ports/log.ts'
import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { markOf } from '../store/log-mark.ts'

export const START: LogCursor = { sequence: 0, mark: null }

export const cursorAt = (change: PhaseChangeRecord): LogCursor => ({ sequence: change.sequence, mark: markOf(change) })

/** Opaque to clients. */
export const encodeCursor = ({ sequence, mark }: LogCursor): string =>
  Buffer.from(JSON.stringify(mark === null ? [sequence] : [sequence, mark])).toString('base64url')

const MARK = /^[\w-]{12}$/
/** Longer than any encoded cursor. */
const MAX_LENGTH = 64

/** Undefined: the text is not a cursor. */
export function decodeCursor(text: string): LogCursor | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const [sequence, mark = null, ...more] = parse(Buffer.from(text, 'base64url').toString())
  const isCursor =
    isSequence(sequence) && (mark === null || (typeof mark === 'string' && MARK.test(mark))) && more.length === 0
  return isCursor ? { sequence, mark } : undefined
}

export const isSequence = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

function parse(text: string): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(text)
    return Array.isArray(values) ? values : []
  } catch {
    return []
  }
}
