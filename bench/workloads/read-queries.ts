/** The same questions to both, each in its own schema, and the answers in a common form, so that they can be compared. */

export interface Question {
  readonly name: string
  readonly phaseline: string
  readonly postgraphile: string
  /** Variables that read this tree. */
  readonly variables: (rootId: string) => Readonly<Record<string, unknown>>
  readonly connections: number
}

export const TREE: Question = {
  name: 'tree of 5,000 objects',
  connections: 2,
  variables: (id) => ({ id }),
  phaseline: `query ($id: ID!) { tree(rootId: $id) {
    objects(first: 5000) { totalCount edges { node { id name kind phase parent { id } } } }
    relations(first: 5000) { edges { node { from to kind } } }
  } }`,
  postgraphile: `query ($id: UUID!) {
    objects: allObjects(condition: { rootId: $id }, first: 5000) {
      totalCount edges { node { id: rowId name kind phase parent: objectByParentId { id: rowId } } }
    }
    relations: allTreeRelations(condition: { rootId: $id }, first: 5000) { edges { node { from to kind } } }
  }`,
}
export const LIST: Question = {
  name: 'objects: 50 of one kind and phase by name, with their total',
  connections: 8,
  variables: () => ({}),
  phaseline: `{ objects(
    filter: { kinds: [DEPLOY_ITEM], phases: [SUCCEEDED] }, orderBy: { field: NAME, direction: ASC }, first: 50
  ) { totalCount edges { cursor node { id name kind phase revision updatedAt } } pageInfo { hasNextPage endCursor } } }`,
  postgraphile: `{ objects: allObjects(condition: { kind: DEPLOY_ITEM, phase: SUCCEEDED }, orderBy: [NAME_ASC, PRIMARY_KEY_ASC], first: 50) {
    totalCount edges { cursor node { id: rowId name kind phase revision updatedAt } } pageInfo { hasNextPage endCursor }
  } }`,
}

/** A relation of tables as PostGraphile can show it: what `relations` of a tree answers. */
export const RELATIONS_VIEW = `create view tree_relation as
  select o.root_id, o.id as "from", o.parent_id as "to", 'PARENT' as kind from object o where o.parent_id is not null
  union all
  select o.root_id, e.from_id, e.to_id, 'DEPENDS_ON' from edge e join object o on o.id = e.from_id`

interface Edges {
  readonly edges: readonly { readonly node: unknown }[]
}
interface TreeOrList {
  readonly objects: Edges & { readonly totalCount: number }
  readonly relations?: Edges
}
/** Ours has a tree around it. */
export type Lists = TreeOrList | { readonly tree: TreeOrList }

/** In an order that does not depend on the server. */
export function comparable(answer: Lists): string {
  const { objects, relations } = 'tree' in answer ? answer.tree : answer
  const sorted = ({ edges }: Edges): readonly string[] => edges.map(({ node }) => JSON.stringify(node, asMoment)).sort()
  return JSON.stringify([objects.totalCount, sorted(objects), relations ? sorted(relations) : null])
}
/** The one writes UTC, the other its offset. */
const asMoment = (key: string, value: unknown): unknown =>
  key === 'updatedAt' ? new Date(value as string).getTime() : value
