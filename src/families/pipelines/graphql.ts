import type { FamilyApi } from '../../graphql/family.ts'
import type { TaskPort } from './commands/parts.ts'
import type { PipelinesCommands } from './commands.ts'
import './graphql/event.ts'
import './graphql/event-mutations.ts'
import './graphql/job-mutations.ts'
import './graphql/places.ts'
import './graphql/project.ts'
import './graphql/project-mutations.ts'
import './graphql/reseal.ts'
import './graphql/secrets.ts'
import './graphql/workload.ts'
import { blockers, deadlines } from './graphql/loaders.ts'

declare module '../../graphql/context.ts' {
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
