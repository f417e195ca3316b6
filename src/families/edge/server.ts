import type { FamilyServer } from '../define-family.ts'
import { edgeCommands } from './commands.ts'
import { edge } from './family.ts'
import { edgeGraphql } from './graphql.ts'

export const server: FamilyServer = {
  rules: edge,
  graphql: edgeGraphql,
  commands: ({ pool, ...parts }) => ({ edge: edgeCommands({ ...parts, client: pool }) }),
}
