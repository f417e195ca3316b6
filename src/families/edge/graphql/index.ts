import type { FamilyApi } from '../../../graphql/family.ts'
import type { EdgeCommands } from '../commands/index.ts'
import './cloudlet.ts'
import './cloudlet-mutations.ts'
import './crm.ts'
import './instance.ts'
import './instance-mutations.ts'
import { blockers, cloudletLoader, deadlines } from './loaders.ts'

declare module '../../../graphql/context.ts' {
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
    // Without a CRM no upgrade can begin.
    return upgradePhase === 'READY' && phase !== 'READY' ? null : upgradePhase
  },
  // An operation runs at once or is refused, so none is ever still to begin.
  outstanding: async (_, rows) => rows.map(() => false),
  outstandingSql: 'false',
  undecidedSql:
    "(o.kind = 'CLOUDLET' and exists (select from cloudlet c where c.object_id = o.id and c.upgrade_phase = 'UPDATE_ERROR'))",
}
