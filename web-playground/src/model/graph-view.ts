import { type Codec, type FilterOf, flag, text, urlFilter, words } from './url-filter.ts'

/** More boxes than anyone opens by hand; a longer address might be refused. */
export const MOST_BOXES = 200

/** Ids of objects and groups. */
const boxes = (name: string): Codec<readonly string[]> => ({
  name,
  read: (value) =>
    value
      .split(',')
      .filter((id) => /^[\p{L}\p{N}.~-]+$/u.test(id))
      .slice(0, MOST_BOXES),
  write: (ids) => ids.join(','),
})

/** The part of a tree that its graph shows, as the address has it. */
export const GRAPH_VIEW = urlFilter({
  name: text('name'),
  phases: words('phase'),
  failed: flag('failed'),
  /** The label whose values are the groups; empty: groups are made by name. */
  label: text('by'),
  open: boxes('open'),
  closed: boxes('closed'),
})
export type GraphView = FilterOf<typeof GRAPH_VIEW>
