import type { FamilyApi } from '../../graphql/family.ts'
import type { EdgeCommands } from './commands.ts'
import './graphql/cloudlet.ts'
import './graphql/cloudlet-mutations.ts'
import './graphql/crm.ts'
import './graphql/instance.ts'
import './graphql/instance-mutations.ts'
import { blockers, cloudletLoader, deadlines } from './graphql/loaders.ts'

declare module '../../graphql/context.ts' {
  interface FamilyServices {
    readonly edge: EdgeCommands
  }
}

/** The edge family's part of the API. */
export const edgeGraphql: FamilyApi = {
  blockers,
  deadlines,
  async secondaryPhase(context, { id, phase }) {
    const upgradePhase = (await cloudletLoader(context).load(id))?.upgradePhase ?? null
    // Without a CRM there is nobody who could begin an upgrade.
    return upgradePhase === 'READY' && phase !== 'READY' ? null : upgradePhase
  },
  // An operation runs at once, or is refused: nothing is ever remembered for later.
  outstanding: async (_, rows) => rows.map(() => false),
  outstandingSql: 'false',
}
