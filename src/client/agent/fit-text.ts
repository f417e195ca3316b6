import type { Limit } from '../../core/limits.ts'
import { portableText } from '../../core/portable.ts'

const CUT = ' … (cut)'

/** The text, or as much of its beginning as the server takes, with a mark; and no character that it cannot store. */
export function fitText(text: string, { max }: Limit): string {
  if (text.length <= max) return portableText(text)
  // Half of a surrogate pair is no character.
  return portableText(`${text.slice(0, max - CUT.length).replace(/[\ud800-\udbff]$/, '')}${CUT}`)
}
