/** Nodes of a connection. */
interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[]
}
interface Forward {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}
interface Backward {
  readonly pageInfo: { readonly hasPreviousPage: boolean; readonly startCursor: string | null }
}
/** A page of a list. */
export interface Page<Node> extends Connection<Node>, Forward {
  /** Null, or not asked for: unknown. */
  readonly totalCount?: number | null
}
export interface PagedList<Node> {
  readonly totalCount: number | null
  /** False: there are more nodes than these. */
  readonly isWhole: boolean
  readonly nodes: readonly Node[]
}

/** The nodes of a connection, which is null only together with an error. */
export const nodesOf = <Node>(connection: Connection<Node> | null): readonly Node[] =>
  connection?.edges.map(({ node }) => node) ?? []
/** The cursor of the next page; null after the last one. */
export const nextCursor = (connection: Forward | null): string | null =>
  connection?.pageInfo.hasNextPage ? connection.pageInfo.endCursor : null

/** The cursor of the page before; null before the first one. */
export const previousCursor = (connection: Backward | null): string | null =>
  connection?.pageInfo.hasPreviousPage ? connection.pageInfo.startCursor : null

/** The most nodes of a page of a list. */
export const PAGE = 100

/** Reads a list page by page, until it ends or `limit` nodes are read; null if `load` returns null: there is no list. */
export async function readPages<Node>(
  limit: number,
  load: (first: number, after: string | null) => Promise<Page<Node> | null>,
): Promise<PagedList<Node> | null> {
  const nodes: Node[] = []
  let totalCount: number | null = null
  let after: string | null = null
  do {
    const page: Page<Node> | null = await load(Math.min(PAGE, limit - nodes.length), after)
    if (!page) return null
    totalCount ??= page.totalCount ?? null
    nodes.push(...nodesOf(page))
    after = nextCursor(page)
  } while (after !== null && nodes.length < limit)
  return { totalCount, isWhole: after === null, nodes }
}

/** The last `limit` nodes of a log, the oldest first. @param most nodes of a page */
export async function readBack<Node>(
  { limit, most }: { readonly limit: number; readonly most: number },
  load: (last: number, before: string | null) => Promise<(Connection<Node> & Backward) | null>,
): Promise<readonly Node[]> {
  const nodes: Node[] = []
  let before: string | null = null
  while (nodes.length < limit) {
    const page: (Connection<Node> & Backward) | null = await load(Math.min(most, limit - nodes.length), before)
    if (!page) break
    nodes.unshift(...nodesOf(page))
    before = page.pageInfo.startCursor
    if (!page.pageInfo.hasPreviousPage || before === null) break
  }
  return nodes
}

/** Entries of a log beyond those that were read. */
export interface Further {
  readonly count: number
  /** False: there may be more than were counted. */
  readonly isAll: boolean
}

/** Counts the entries of the page beyond, and of no other, since a log is long. @param next null: it is the last page */
export const countFurther = (
  page: { readonly edges: readonly unknown[] } | null | undefined,
  next: string | null,
): Further => ({
  count: page?.edges.length ?? 0,
  isAll: next === null,
})

/** All nodes of a list or a log after a cursor, page by page: a page of a log may be empty before the last one. */
export async function* readOn<Node>(
  start: string | null,
  load: (after: string | null) => Promise<(Connection<Node> & Forward) | null>,
): AsyncGenerator<readonly Node[]> {
  let after = start
  do {
    const page: (Connection<Node> & Forward) | null = await load(after)
    if (!page) return
    yield nodesOf(page)
    after = nextCursor(page)
  } while (after !== null)
}
