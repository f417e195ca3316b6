import type { Window } from '../../store/loaders/window.ts'
import { badInput, DEFAULT_PAGE, MAX_PAGE } from './limits.ts'

/** Relay connections over keyset pages. */

export interface PageArgs {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
}

/** Writes a position in a list as a cursor, and reads it back. */
export interface CursorCodec<Position> {
  encode(position: Position): string
  /** Undefined if the text is not a cursor of this list. */
  decode(cursor: string): Position | undefined
}

export interface Connection<T> {
  readonly edges: readonly { readonly cursor: string; readonly node: T }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
  /** Counts only on request. */
  readonly totalCount: () => Promise<number>
}

export interface List<T, Position> {
  readonly cursor: CursorCodec<Position>
  position(value: T): Position
  /** The rows of a window, in the order of the list. */
  load(window: Window<Position>): Promise<readonly T[]>
  count(): Promise<number>
  /** A page may end before it is full, so that its length says nothing of the list. */
  readonly isSearched?: boolean
  readonly defaultPage?: number
  readonly maxPage?: number
}

/** Encodes its cursor on request, since most requests read the node alone. */
class Edge<T, Position> {
  readonly node: T
  readonly #list: List<T, Position>
  constructor(node: T, list: List<T, Position>) {
    this.node = node
    this.#list = list
  }
  get cursor(): string {
    return this.#list.cursor.encode(this.#list.position(this.node))
  }
}

/** Reads one entry more than requested, to know whether more follow. A list that its page holds as a whole is not counted again. */
export async function connect<T, Position>(args: PageArgs, list: List<T, Position>): Promise<Connection<T>> {
  const window = windowOf(args, list)
  const isFromEnd = window.after === null && window.before === null && list.isSearched !== true
  if (window.limit === 0 && isFromEnd) return await counted(list, window.backward)
  const rows = await list.load({ ...window, limit: window.limit + 1 })
  const more = rows.length > window.limit
  const shown = more ? (window.backward ? rows.slice(1) : rows.slice(0, -1)) : rows
  const edges = shown.map((node) => new Edge(node, list))
  return {
    edges,
    pageInfo: {
      hasNextPage: window.backward ? window.before !== null : more,
      hasPreviousPage: window.backward ? more : window.after !== null,
      get startCursor() {
        return edges.at(0)?.cursor ?? null
      },
      get endCursor() {
        return edges.at(-1)?.cursor ?? null
      },
    },
    totalCount: async () => (isFromEnd && !more ? rows.length : await list.count()),
  }
}

/** A page without entries: whoever wants no more than the count pays for nothing else. */
async function counted<T, Position>(list: List<T, Position>, backward: boolean): Promise<Connection<T>> {
  const count = await list.count()
  const pageInfo = {
    hasNextPage: !backward && count > 0,
    hasPreviousPage: backward && count > 0,
    startCursor: null,
    endCursor: null,
  }
  return { edges: [], pageInfo, totalCount: async () => count }
}

function windowOf<T, Position>(args: PageArgs, list: List<T, Position>): Window<Position> {
  const { first, last } = args
  if (typeof first === 'number' && typeof last === 'number') throw badInput('Give first or last, not both.')
  const limit = first ?? last ?? list.defaultPage ?? DEFAULT_PAGE
  const max = list.maxPage ?? MAX_PAGE
  if (limit < 0 || limit > max) throw badInput(`A page has 0 to ${max} entries, not ${limit}.`)
  return {
    limit,
    backward: typeof last === 'number',
    after: positionOf(args.after, list.cursor),
    before: positionOf(args.before, list.cursor),
  }
}

function positionOf<Position>(cursor: string | null | undefined, codec: CursorCodec<Position>): Position | null {
  if (cursor === null || cursor === undefined) return null
  const position = codec.decode(cursor)
  if (position === undefined) throw badInput(`${JSON.stringify(cursor.slice(0, 100))} is not a cursor of this list.`)
  return position
}

/** The page of a search that stopped before the page was full: the next page resumes there. */
export function cutAt<T>(
  cursor: string,
  { edges, pageInfo, totalCount }: Connection<T>,
  backward: boolean,
): Connection<T> {
  const { hasNextPage, hasPreviousPage, startCursor, endCursor } = pageInfo
  return {
    edges,
    totalCount,
    pageInfo: backward
      ? { hasNextPage, hasPreviousPage: true, startCursor: cursor, endCursor }
      : { hasNextPage: true, hasPreviousPage, startCursor, endCursor: cursor },
  }
}
