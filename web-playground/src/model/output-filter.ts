import { TIME_FIELDS, timeInput } from './time-range.ts'
import { type FilterOf, oneOf, text, urlFilter } from './url-filter.ts'

export const STREAMS = ['STDOUT', 'STDERR', 'STEP', 'SYSTEM'] as const
const LEVELS = ['error', 'warning'] as const
export type Level = (typeof LEVELS)[number]

/** The filter of the page of output. The server applies it, but for the level. Empty texts, and null: all. */
export const OUTPUT_FILTER = urlFilter({
  /** Only lines of an object, a tree (by its root) or a project. */
  object: text('object', 64),
  root: text('root', 64),
  project: text('project'),
  stream: oneOf('stream', STREAMS),
  /** Lines that say so, or worse. */
  level: oneOf('level', LEVELS),
  /** Cursor of the line that a link leads to. */
  line: text('line', 4_096),
  ...TIME_FIELDS,
  /** Words, of which a line must contain each. */
  text: text('search'),
})
export type OutputFilter = FilterOf<typeof OUTPUT_FILTER>

/** OutputFilter of the API. @param now milliseconds since 1970 */
export const outputFilterInput = (filter: OutputFilter, now: number): Readonly<Record<string, unknown>> => {
  const { object, root, project, text, stream } = filter
  return {
    // The narrowest of them counts: the server takes one.
    ...(object ? { objectId: object } : root ? { rootId: root } : project && { project }),
    ...(text.trim() && { search: text }),
    ...(stream && { streams: [stream] }),
    ...timeInput(filter, now),
  }
}
