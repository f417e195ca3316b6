/** The part of a connection that a list needs. */
export interface Page<T> {
  readonly totalCount: number | null
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
  readonly edges: readonly { readonly node: T }[]
}
export interface PagedList<T> {
  readonly totalCount: number | null
  readonly nodes: readonly T[]
}

const PAGE = 100

/**
 * Loads page after page until there are `limit` entries or no more pages. `load` returns null when there is no list.
 */
export async function readPages<T>(
  limit: number,
  load: (first: number, after: string | null) => Promise<Page<T> | null>,
): Promise<PagedList<T> | null> {
  const nodes: T[] = []
  let totalCount: number | null = null
  let after: string | null = null
  do {
    const page: Page<T> | null = await load(Math.min(PAGE, limit - nodes.length), after)
    if (!page) return null
    totalCount ??= page.totalCount
    nodes.push(...page.edges.map(({ node }) => node))
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after !== null && nodes.length < limit)
  return { totalCount, nodes }
}

/** The line below a list that does not show everything. */
export function describeRest({ totalCount, nodes }: PagedList<unknown>): string[] {
  if (totalCount === null) return ['… and more (--limit)']
  return totalCount > nodes.length ? [`… and ${totalCount - nodes.length} more (--limit)`] : []
}
