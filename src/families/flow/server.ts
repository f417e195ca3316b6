import { writeGatePoll } from '../../store/gate-polls.ts'
import { forgetExpired, wakeBehind } from '../../store/limit-tickets.ts'
import type { FamilyServer } from '../define-family.ts'
import { apiWithoutObjects, rulesWithoutObjects } from '../without-objects.ts'
import { startAsking } from './commands/ask-addresses.ts'
import { bindInvariants } from './commands/invariants.ts'
import { bindFlow } from './commands/limits.ts'
import './graphql/index.ts'

export const server: FamilyServer = {
  rules: {
    ...rulesWithoutObjects('flow'),
    effects: {
      async gateCloses(client, { row }, { id, http }, now) {
        await writeGatePoll(client, { objectId: id, rootId: row.id, projectId: row.projectId, http }, now)
        return []
      },
    },
    sharedEffects: { limitsPassed: wakeBehind },
    recoverStalled: forgetExpired,
  },
  graphql: apiWithoutObjects,
  commands: (parts) => ({ flow: bindFlow(parts), invariants: bindInvariants(parts) }),
  startWorker: startAsking,
}
