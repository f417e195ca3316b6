import { type DifferenceKind, diffLines, type ShownDiff } from '../../client-model/index.ts'
import type { Paint } from '../terminal/paint.ts'
import { shorten } from '../terminal/text.ts'

/** Characters of a value that one line shows. */
const WIDTH = 200
const STYLES = { ADDED: 'green', REMOVED: 'red', CHANGED: 'yellow' } as const satisfies Record<DifferenceKind, string>

/** A line for each difference, in the colour of its kind. */
export function describeDiff(diff: ShownDiff, paint: Paint): string[] {
  const lines = diffLines(diff, shown).map(({ change, text }) => paint(STYLES[change], text))
  return diff.truncated ? [...lines, '  and more'] : lines
}

const shown = (value: unknown): string => shorten(JSON.stringify(value) ?? '', WIDTH)
