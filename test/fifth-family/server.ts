import { bindCommands } from '../../src/families/command.ts'
import type { FamilyServer } from '../../src/families/define-family.ts'
import { backupsCommands } from './commands.ts'
import { graphql } from './graphql.ts'
import { rules } from './rules.ts'

export const server: FamilyServer = {
  rules,
  graphql,
  commands: (parts) => ({ backups: bindCommands(parts, backupsCommands) }),
}
