import type { FamilyApi } from '../../../graphql/family.ts'
import type { DeploymentsCommands } from '../commands/index.ts'
import './reconcile-trigger.ts'
import './blockers.ts'
import './installation.ts'
import './runs.ts'
import './diffs.ts'
import './execution.ts'
import './deploy-item.ts'
import './installation-mutations.ts'
import './data-mutations.ts'
import './plan.ts'
import './targets.ts'
import './dry-run.ts'
import './report-dry-runs.ts'
import { LEFT_OUT } from '../store/details.ts'
import { forecast } from './forecast.ts'
import {
  attempts,
  awaitsApproval,
  blockers,
  deadlines,
  leftOut,
  outstanding,
  pendingRequests,
  verbEffect,
} from './loaders.ts'

declare module '../../../graphql/context.ts' {
  interface FamilyServices {
    readonly deployments: DeploymentsCommands
  }
}

/** The deployments family's part of the API. */
export const deploymentsGraphql: FamilyApi = {
  blockers,
  deadlines,
  attempts,
  awaitsApproval,
  forecast,
  outstanding,
  pendingRequests,
  verbEffect,
  leftOut,
  // A failed deletion is only repeated on a user's request, and a gate waits for people.
  undecidedSql: `(o.kind = 'INSTALLATION' and o.parent_id is null and o.phase = 'DELETE_FAILED' and o.job_id = o.finished_job_id
    and exists (select from installation i where i.object_id = o.id and not i.next_deletion)
    or o.kind = 'DEPLOY_ITEM' and o.phase = 'INIT'
    and exists (select from deploy_item d where d.object_id = o.id and d.gate ->> 'approval' is not null))`,
  leftOutSql: `(o.kind in ('INSTALLATION', 'EXECUTION', 'DEPLOY_ITEM') and ${LEFT_OUT})`,
  outstandingSql: `(o.kind = 'INSTALLATION'
    and exists (select from installation i where i.object_id = o.id and (i.next_mode is not null or i.next_deletion)))`,
}
