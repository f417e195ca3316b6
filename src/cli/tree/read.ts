import type { Client } from '../../client/index.ts'
import type { TreeObject } from './model.ts'

/** Big enough for most trees in one page, small enough for one answer. */
const PAGE = 1000
/** Objects asked for by id in one query. */
const BATCH = 100

export const TREE_FIELDS = `fragment TreeFields on TreeObject {
  id kind name parent { id } phase phaseSince finished revision jobId
  error { code message }
  progress { step value total unit }
}`

const TREE_PAGE = `query TreePage($rootId: ID!, $first: Int!, $after: String) {
  tree(rootId: $rootId) {
    sequence cursor
    objects(first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node { ...TreeFields } } }
  }
}\n${TREE_FIELDS}`
const OBJECTS = `query TreeObjects($ids: [ID!]!) { nodes(ids: $ids) { ...TreeFields } }\n${TREE_FIELDS}`
const WITH_BLOCKERS = `query TreeBlockers($ids: [ID!]!) {
  nodes(ids: $ids) { ... on TreeObject { ...TreeFields blockedBy(first: 3) { reason message } } }
}\n${TREE_FIELDS}`

export interface TreeSnapshot {
  readonly sequence: number
  readonly objects: readonly TreeObject[]
}
/** The tree as it is. */
export interface LiveTree extends TreeSnapshot {
  /** Where to go on in the log of phase changes so that nothing is missed. */
  readonly cursor: string
}

interface TreePage {
  readonly tree: {
    readonly sequence: number
    readonly cursor: string
    readonly objects: {
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
      readonly edges: readonly { readonly node: TreeObject }[]
    }
  } | null
}

/** The whole tree, page by page; null when there is none (any more). */
export async function readTree(client: Client, rootId: string, signal: AbortSignal): Promise<LiveTree | null> {
  const objects: TreeObject[] = []
  let place: Pick<LiveTree, 'sequence' | 'cursor'> | undefined
  let after: string | null = null
  do {
    const { tree }: TreePage = await client.query<TreePage>(TREE_PAGE, { rootId, first: PAGE, after }, { signal })
    if (!tree) return null
    // Later pages may be newer: from the first one's place on the log repeats what they already have, by revision.
    place ??= { sequence: tree.sequence, cursor: tree.cursor }
    objects.push(...tree.objects.edges.map(({ node }) => node))
    after = tree.objects.pageInfo.hasNextPage ? tree.objects.pageInfo.endCursor : null
  } while (after !== null)
  return { ...place, objects }
}

/** Objects by id, those that exist no more left out; with what they wait for when asked, which costs the server more. */
export async function readObjects(
  client: Client,
  ids: readonly string[],
  { signal, blockers = false }: { readonly signal: AbortSignal; readonly blockers?: boolean },
): Promise<readonly TreeObject[]> {
  const found: TreeObject[] = []
  for (let start = 0; start < ids.length; start += BATCH) {
    const { nodes } = await client.query<{ nodes: readonly (TreeObject | null)[] }>(
      blockers ? WITH_BLOCKERS : OBJECTS,
      { ids: ids.slice(start, start + BATCH) },
      { signal },
    )
    found.push(...nodes.filter((node) => node !== null))
  }
  return found
}
