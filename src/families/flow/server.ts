import type { FamilyServer } from '../define-family.ts'
import { apiWithoutObjects, rulesWithoutObjects } from '../without-objects.ts'
import { bindFlow } from './commands/limits.ts'
import './graphql/index.ts'

export const server: FamilyServer = {
  rules: rulesWithoutObjects('flow'),
  graphql: apiWithoutObjects,
  commands: (parts) => ({ flow: bindFlow(parts) }),
}
