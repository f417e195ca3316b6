import type { Client } from '../../client/index.ts'
import { FORECAST_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import { TREE_BLOCKERS, TREE_FIELDS, type TreeObject } from './fields.ts'

/** Big enough for most trees in one page, small enough for one answer. */
const PAGE = 1000
/** Ids of one query. */
const BATCH = 100

const TREE_PAGE = gql(`query TreePage($rootId: ID!, $first: Int!, $after: String) {
  tree(rootId: $rootId) {
    sequence cursor
    objects(first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node { ...TreeFields } } }
  }
}\n${TREE_FIELDS}`)
const OBJECTS = gql(`query TreeObjects($ids: [ID!]!) { nodes(ids: $ids) { ...TreeFields } }\n${TREE_FIELDS}`)
const WITH_BLOCKERS = gql(`query TreeBlockers($ids: [ID!]!) {
  nodes(ids: $ids) { ...TreeFields ...TreeBlockers }
}\n${TREE_FIELDS}\n${TREE_BLOCKERS}`)

const FORECAST = gql(`query TreeForecast($id: ID!) { object(id: $id) { ...Expected } }\n${FORECAST_FRAGMENT}`)
export type TreeForecast = NonNullable<ResultOf<typeof FORECAST>['object']>['forecast']

export interface TreeSnapshot {
  readonly sequence: number
  readonly objects: readonly TreeObject[]
}
export interface LiveTree extends TreeSnapshot {
  /** Position in the log to follow phase changes from without a gap. */
  readonly cursor: string
}

/** Reads the whole tree, page by page; null when it does not exist. */
export async function readTree(client: Client, rootId: string, signal: AbortSignal): Promise<LiveTree | null> {
  const objects: TreeObject[] = []
  let place: Pick<LiveTree, 'sequence' | 'cursor'> | undefined
  let after: string | null = null
  do {
    const { tree }: ResultOf<typeof TREE_PAGE> = await client.query(
      TREE_PAGE,
      { rootId, first: PAGE, after },
      { signal },
    )
    if (!tree) return null
    // Later pages may be newer: the log from the first page's position repeats changes that they have, which the model
    // recognises by their revision.
    place ??= { sequence: tree.sequence, cursor: tree.cursor }
    objects.push(...tree.objects.edges.map(({ node }) => node))
    after = tree.objects.pageInfo.hasNextPage ? tree.objects.pageInfo.endCursor : null
  } while (after !== null)
  return { ...place, objects }
}

/** Objects by id, without those that no longer exist; with `blockers`, also why they wait. */
export async function readObjects(
  client: Client,
  ids: readonly string[],
  { signal, blockers = false }: { readonly signal: AbortSignal; readonly blockers?: boolean },
): Promise<readonly TreeObject[]> {
  const found: TreeObject[] = []
  for (let start = 0; start < ids.length; start += BATCH) {
    const { nodes } = await client.query(
      blockers ? WITH_BLOCKERS : OBJECTS,
      { ids: ids.slice(start, start + BATCH) },
      { signal },
    )
    found.push(...nodes.flatMap((node) => (node?.id === undefined ? [] : [node])))
  }
  return found
}

/** When an object is expected to end; null: nothing shows it. */
export async function readForecast(client: Client, id: string, signal: AbortSignal): Promise<TreeForecast> {
  const { object } = await client.query(FORECAST, { id }, { signal })
  return object?.forecast ?? null
}
