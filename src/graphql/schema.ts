import type { GraphQLSchema } from 'graphql'
import { builder } from './schema/builder.ts'
import './schema/scalars.ts'
import './objects/node.ts'
import './objects/tree-object.ts'
import './objects/object-state.ts'
import './objects/forecast.ts'
import './objects/object-parts.ts'
import './objects/objects.ts'
import './objects/tree.ts'
import './objects/json-difference.ts'
import './objects/tree-at.ts'
import './objects/tree-diff.ts'
import './objects/project-changes.ts'
import './log/phase-change.ts'
import './log/phase-subscriptions.ts'
import './log/log-state.ts'
import './log/log-line.ts'
import './log/log-subscription.ts'
import './log/output-line.ts'
import './log/output-lines.ts'
import './objects/object-updates.ts'
import './agents/work-offered.ts'
import './objects/family.ts'
import './objects/state-machine.ts'
import './agents/agent.ts'
import './agents/load.ts'
import './health/health.ts'
import './objects/common-blockers.ts'
import './objects/pending-request.ts'
import './agents/claim-work.ts'
import './agents/renew-leases.ts'
import './agents/report-phases.ts'
import './agents/append-logs.ts'
import './auth/viewer.ts'
import './auth/token.ts'
import './auth/principal.ts'
import './audit/audit-chain.ts'
import './audit/audit-log.ts'
import './log/subscriptions.ts'
import type { GraphQLFamily } from './family.ts'
import { boundEnums } from './schema/bound-enums.ts'
import { SCHEMA_DESCRIPTION } from './schema/descriptions.ts'
import { enforceBounds } from './schema/enforce-bounds.ts'
import { setWords } from './schema/enums.ts'
import { guardAnswers } from './schema/leaves.ts'
import { orderSchema } from './schema/order.ts'

/** The schema of the shared types and of these families, whose modules added their types when they were loaded. */
export function buildSchema(families: readonly GraphQLFamily[]): GraphQLSchema {
  setWords(families.map(({ words }) => words))
  const schema = builder.toSchema()
  for (const { type } of families.flatMap((family) => Object.values(family.kinds))) {
    if (!schema.getType(type)) throw new Error(`the type ${type} was never added to the builder`)
  }
  guardAnswers(schema)
  enforceBounds(schema)
  boundEnums(schema)
  orderSchema(schema)
  schema.description = SCHEMA_DESCRIPTION
  return schema
}
