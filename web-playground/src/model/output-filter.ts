import { ANY_TIME, readTimeRange, type TimeRange, timeInput } from './time-range.ts'

/** The filter of the page of output, as the address has it. The server applies it, but for the level. */

export const STREAMS = ['STDOUT', 'STDERR', 'STEP', 'SYSTEM'] as const
export const LEVELS = ['error', 'warning'] as const
export type Level = (typeof LEVELS)[number]

/** Empty texts, and null: all. */
export interface OutputFilter extends TimeRange {
  /** Only lines of an object, a tree (by its root) or a project. */
  readonly object: string
  readonly root: string
  readonly project: string
  /** Words, of which a line must contain each. */
  readonly text: string
  readonly stream: string
  /** Lines that say so, or worse. */
  readonly level: Level | null
  /** Cursor of the line that a link leads to. */
  readonly line: string
}
export const ALL_OUTPUT: OutputFilter = {
  ...{ object: '', root: '', project: '', text: '', stream: '', level: null, line: '', ...ANY_TIME },
}

export const readLevel = (text: string): Level | null => LEVELS.find((one) => one === text) ?? null

export function readOutputFilter(search: string): OutputFilter {
  const params = new URLSearchParams(search)
  // No more than the server takes.
  const take = (name: string, most: number): string => (params.get(name) ?? '').slice(0, most)
  return {
    object: take('object', 64),
    root: take('root', 64),
    project: take('project', 255),
    text: take('search', 255),
    stream: STREAMS.find((one) => one === params.get('stream')) ?? '',
    level: readLevel(take('level', 20)),
    line: take('line', 4_096),
    ...readTimeRange(params),
  }
}

/** Defaults are omitted. Starts with `?`, or is empty. */
export function writeOutputFilter({ text, ...filter }: OutputFilter): string {
  const entries = Object.entries({ ...filter, search: text }).filter(([, value]) => value)
  const query = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()
  return query ? `?${query}` : ''
}

/** LogLineFilter of the API. @param now milliseconds since 1970 */
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
