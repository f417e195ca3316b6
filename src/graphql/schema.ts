import type { GraphQLSchema } from 'graphql'
import { builder } from './builder.ts'
import './scalars.ts'
import './node.ts'
import './tree-object.ts'
import './object-state.ts'
import './object-parts.ts'
import './objects.ts'
import './tree.ts'
import './tree-at.ts'
import './phase-change.ts'
import './phase-subscriptions.ts'
import './log-state.ts'
import './log-line.ts'
import './log-subscription.ts'
import './object-updates.ts'
import './work-offered.ts'
import './state-machine.ts'
import './project.ts'
import './agent.ts'
import './common-blockers.ts'
import './claim-work.ts'
import './renew-leases.ts'
import './report-phases.ts'
import './append-logs.ts'
import './viewer.ts'
import './token.ts'
import './subscriptions.ts'
import type { GraphQLFamily } from './family.ts'
import { boxJson } from './json-data.ts'

/** The schema of the shared types and of these families, which have added theirs when their modules were loaded. */
export function buildSchema(families: readonly GraphQLFamily[]): GraphQLSchema {
  const schema = builder.toSchema()
  for (const name of families.flatMap((family) => Object.values(family.kinds))) {
    if (!schema.getType(name)) throw new Error(`the type ${name} was never added to the builder`)
  }
  boxJson(schema)
  return schema
}
