import type { FamilyServer } from '../define-family.ts'
import { deploymentsCommands } from './commands.ts'
import { deployments } from './family.ts'
import { deploymentsGraphql } from './graphql.ts'

export const server: FamilyServer = {
  rules: deployments,
  graphql: deploymentsGraphql,
  commands: ({ pool, ...parts }) => ({ deployments: deploymentsCommands({ ...parts, client: pool }) }),
}
