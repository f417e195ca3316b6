import { forgetExpired, wakeBehind } from '../../store/limit-tickets.ts'
import type { FamilyServer } from '../define-family.ts'
import { apiWithoutObjects, rulesWithoutObjects } from '../without-objects.ts'
import { bindFlow } from './commands/limits.ts'
import './graphql/index.ts'

export const server: FamilyServer = {
  rules: {
    ...rulesWithoutObjects('flow'),
    effects: { limitsPassed: (client, _root, id, now) => wakeBehind(client, id, now) },
    sharedEffects: ['limitsPassed'],
    recoverStalled: forgetExpired,
  },
  graphql: apiWithoutObjects,
  commands: (parts) => ({ flow: bindFlow(parts) }),
}
