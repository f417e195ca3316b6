import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { projectsWith, RIGHTS } from '../../core/rights.ts'
import type { ObjectRow } from '../../core/tree.ts'
import type { ProjectRow } from '../../store/loaders/projects.ts'
import { loadPrincipals, type PrincipalRow } from '../../store/principals.ts'
import { loadTokens, type TokenRow } from '../../store/tokens.ts'
import { type GraphQLContext, perOperation } from '../context.ts'
import { loadById, objectLoader, phaseChangeLoader, projectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { isUuid, parsePhaseChangeId } from '../schema/ids.ts'
import { NodeRef } from '../schema/refs.ts'

type NodeValue = ObjectRow | ((ProjectRow | PhaseChangeRecord | PrincipalRow | TokenRow) & Branded)
interface Branded {
  readonly __typename: string
}

const principalLoader = perOperation(({ pool, viewer }) =>
  loadById<PrincipalRow>((ids) => loadPrincipals(pool, ids, projectsWith(viewer, RIGHTS.readPrincipals))),
)
const tokenLoader = perOperation(({ pool, viewer }) =>
  loadById<TokenRow>((ids) => loadTokens(pool, ids, projectsWith(viewer, RIGHTS.readPrincipals))),
)

/** The node with this id; null if the viewer may not read it. */
async function resolveNode(context: GraphQLContext, id: string): Promise<NodeValue | null> {
  const changeId = parsePhaseChangeId(id)
  if (changeId) {
    const change = await phaseChangeLoader(context).load(changeId)
    return change && { ...change, __typename: 'PhaseChange' }
  }
  if (!isUuid(id)) return null
  const [object, project] = await Promise.all([objectLoader(context).load(id), projectLoader(context).load(id)])
  if (object) return object
  if (project) return { ...project, __typename: 'Project' }
  const [principal, token] = await Promise.all([principalLoader(context).load(id), tokenLoader(context).load(id)])
  return principal ? { ...principal, __typename: 'Principal' } : token && { ...token, __typename: 'Token' }
}

builder.queryFields((t) => ({
  node: t.field({
    right: RIGHTS.readObjects,
    type: NodeRef,
    nullable: true,
    description:
      'Any object, project, phase change, principal or token by its id; null if there is none that the viewer may read.',
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
