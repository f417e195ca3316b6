import type { Limit } from '../../core/limits.ts'
import { beginningOf, portableText } from '../../core/portable.ts'

const CUT = ' … (cut)'

/** The text, or as much of its beginning as the server takes, with a mark; and no character that it cannot store. */
export const fitText = (text: string, limit: Pick<Limit, 'max'>): string =>
  text.length <= limit.max ? portableText(text) : cutText(text, limit)

/** The same for a text of which the rest is lost already. */
export const cutText = (text: string, { max }: Pick<Limit, 'max'>): string =>
  portableText(`${beginningOf(text, max - CUT.length)}${CUT}`)
