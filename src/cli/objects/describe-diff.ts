import type { Paint } from '../terminal/paint.ts'
import { shorten } from '../terminal/text.ts'

/** The differences of two JSON documents, as the API has them. */
interface ShownDiff {
  readonly truncated: boolean
  readonly differences: readonly {
    readonly path: readonly string[]
    readonly change: string
    readonly before: unknown
    readonly after: unknown
  }[]
}

/** Characters of a value that one line shows. */
const WIDTH = 200

/** A line for each difference: what was removed, what was added, and what was replaced by what. */
export function describeDiff({ differences, truncated }: ShownDiff, paint: Paint): string[] {
  const lines = differences.flatMap(byValue).map(({ path, change, before, after }) => {
    const where = path.join('.') || 'all'
    if (change === 'ADDED') return paint('green', `+ ${where}: ${shown(after)}`)
    if (change === 'REMOVED') return paint('red', `- ${where}: ${shown(before)}`)
    return paint('yellow', `~ ${where}: ${shown(before)} → ${shown(after)}`)
  })
  return truncated ? [...lines, '  and more'] : lines
}

/** A whole document that was added or removed, as the differences of its values. */
function byValue(difference: ShownDiff['differences'][number]): ShownDiff['differences'] {
  const { path, change, before, after } = difference
  const whole = change === 'ADDED' ? after : before
  if (path.length > 0 || change === 'CHANGED' || typeof whole !== 'object' || whole === null) return [difference]
  return Object.entries(whole).map(([name, value]) => ({ path: [name], change, before: value, after: value }))
}

const shown = (value: unknown): string => shorten(JSON.stringify(value) ?? '', WIDTH)
