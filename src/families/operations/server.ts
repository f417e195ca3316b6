import type { FamilyServer } from '../define-family.ts'
import { operationsCommands } from './commands.ts'
import { operations } from './family.ts'
import { operationsGraphql } from './graphql.ts'

export const server: FamilyServer = {
  rules: operations,
  graphql: operationsGraphql,
  commands({ pool, ...parts }) {
    const commands = operationsCommands({ ...parts, client: pool })
    return { operations: commands, tasks: commands }
  },
}
