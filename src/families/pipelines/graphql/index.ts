import type { FamilyApi } from '../../../graphql/family.ts'
import type { PipelinesCommands } from '../commands/index.ts'
import '../artifacts/graphql.ts'
import './event-filter.ts'
import './event-trigger.ts'
import './event.ts'
import './event-mutations.ts'
import './job-mutations.ts'
import '../placement/graphql.ts'
import './workload.ts'
import { SLOT } from '../rules/details.ts'
import { attempts, awaitsApproval, blockers, deadlines } from './loaders.ts'

declare module '../../../graphql/context.ts' {
  interface FamilyServices {
    readonly pipelines: PipelinesCommands
  }
}

/** The pipelines family's part of the API. */
export const pipelinesGraphql: FamilyApi = {
  blockers,
  deadlines,
  attempts,
  awaitsApproval,
  undecidedSql: `(o.kind in ('WORKER', 'JOB') and o.phase = 'PENDING' and exists (select from workload w where w.object_id = o.id
    and w.state = ${SLOT.BACKOFF} and w.gate ->> 'approval' is not null and w.gate -> 'isOpen' is null))`,
  // A workload runs once, so none is ever still to begin.
  outstanding: async (_, rows) => rows.map(() => false),
  outstandingSql: 'false',
  claimPayloads: ({ pipelines }, items) => pipelines.claimPayloads(items),
}
