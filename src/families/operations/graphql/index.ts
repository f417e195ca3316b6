import type { FamilyApi } from '../../../graphql/family.ts'
import type { OperationsCommands } from '../commands/index.ts'
import './task-trigger.ts'
import './lock.ts'
import './task.ts'
import './task-mutations.ts'
import { AT_GATE } from '../store/blocker-queries.ts'
import { attempts, awaitsApproval, blockers, pendingRequests } from './loaders.ts'

declare module '../../../graphql/context.ts' {
  interface FamilyServices {
    readonly operations: OperationsCommands
  }
}

/** The operations family's part of the API. */
export const operationsGraphql: FamilyApi = {
  blockers,
  attempts,
  pendingRequests,
  deadlines: async (_, rows) => rows.map(() => []),
  // A job runs once, so none is ever still to begin.
  outstanding: async (_, rows) => rows.map(() => false),
  outstandingSql: 'false',
  awaitsApproval,
  undecidedSql: `(o.kind = 'GADGET_JOB' and (o.phase = 'UNDO_FAILED' or o.phase = 'PENDING' and exists (
    select from gadget_job g where g.object_id = o.id and ${AT_GATE} and g.gate ->> 'approval' is not null)))`,
}
