import type { Pool } from 'pg'
import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { projectsWith, RIGHTS, type Right } from '../../core/rights.ts'
import type { ObjectRow } from '../../core/tree.ts'
import { type GraphQLContext, perOperation } from '../context.ts'
import { loadById, objectLoader, phaseChangeLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { isUuid, parsePhaseChangeId } from '../schema/ids.ts'
import { NodeRef } from '../schema/refs.ts'

type Branded<T extends object> = T & { readonly __typename: string }
type NodeValue = ObjectRow | Branded<PhaseChangeRecord> | Branded<{ readonly id: string }>
type FindNode = (context: GraphQLContext, id: string) => Promise<NodeValue | null>

const TYPES = new Map<string, FindNode>()

/** Lets `node(id)` find a type. `load` gets the ids of the projects in which the viewer has the right; null: all. */
export function addNodeType<Row extends { readonly id: string }>(
  __typename: string,
  right: Right,
  load: (
    pool: Pool,
    ids: readonly string[],
    projects: readonly string[] | null,
    context: GraphQLContext,
  ) => Promise<readonly Row[]>,
): void {
  const loader = perOperation((context) => {
    const { pool, viewer } = context
    const projects = projectsWith(viewer, right)
    // A viewer with the right in no project does not see what belongs to all projects either.
    return loadById<Row>((ids) => (projects?.length === 0 ? Promise.resolve([]) : load(pool, ids, projects, context)))
  })
  TYPES.set(__typename, async (context, id) => {
    const row = await loader(context).load(id)
    return row && { ...row, __typename }
  })
}

/** The node with this id; null if the viewer may not read it. */
async function resolveNode(context: GraphQLContext, id: string): Promise<NodeValue | null> {
  const changeId = parsePhaseChangeId(id)
  if (changeId) {
    const change = await phaseChangeLoader(context).load(changeId)
    return change && { ...change, __typename: 'PhaseChange' }
  }
  if (!isUuid(id)) return null
  const object = await objectLoader(context).load(id)
  if (object) return object
  const found = await Promise.all(Array.from(TYPES.values(), (find) => find(context, id)))
  return found.find((node) => node !== null) ?? null
}

const NODE = 'Any object, phase change, project, principal, token, place or artifact'
builder.queryFields((t) => ({
  node: t.field({
    right: RIGHTS.readObjects,
    type: NodeRef,
    nullable: true,
    description: `${NODE} by its id; null if there is none that the viewer may read.`,
    args: { id: t.arg.id({ required: true, description: 'Id of the node.' }) },
    resolve: (_, { id }, context) => resolveNode(context, id),
  }),
  nodes: t.field({
    right: RIGHTS.readObjects,
    type: [NodeRef],
    nullable: { list: false, items: true },
    description:
      'Nodes by their ids, in the order of the ids; null for an id that names none that the viewer may read.',
    args: { ids: t.arg.idList({ required: true, limit: 'ids', description: 'Ids of nodes of any type.' }) },
    complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }),
    resolve: (_, { ids }, context) => Promise.all(ids.map((id) => resolveNode(context, id))),
  }),
}))
