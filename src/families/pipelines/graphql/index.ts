import type { FamilyApi } from '../../../graphql/family.ts'
import type { PipelinesCommands } from '../commands/index.ts'
import type { TaskPort } from '../commands/parts.ts'
import './event.ts'
import './event-mutations.ts'
import './job-mutations.ts'
import './places.ts'
import './project.ts'
import './project-mutations.ts'
import './reseal.ts'
import './secrets.ts'
import './workload.ts'
import { blockers, deadlines } from './loaders.ts'

declare module '../../../graphql/context.ts' {
  interface FamilyServices {
    readonly pipelines: PipelinesCommands
    /** Command of the family that runs tasks. */
    readonly tasks: TaskPort
  }
}

/** The pipelines family's part of the API. */
export const pipelinesGraphql: FamilyApi = {
  blockers,
  deadlines,
  // A workload runs once, so none is ever still to begin.
  outstanding: async (_, rows) => rows.map(() => false),
  outstandingSql: 'false',
  claimPayloads: ({ pipelines }, items) => pipelines.claimPayloads(items),
}
