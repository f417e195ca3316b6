import type { GraphQLFamily } from '../../graphql/family.ts'
import type { OperationsCommands } from './commands.ts'
import './graphql/lock.ts'
import './graphql/task.ts'
import './graphql/task-mutations.ts'
import { blockers } from './graphql/loaders.ts'
import { machines } from './machines.ts'

declare module '../../graphql/context.ts' {
  interface FamilyServices {
    readonly operations: OperationsCommands
  }
}

/** The operations family's part of the API. */
export const operationsGraphql: GraphQLFamily = {
  name: 'operations',
  machines,
  kinds: { TASK: 'Task', GADGET_JOB: 'GadgetJob' },
  blockers,
  deadlines: async (_, rows) => rows.map(() => []),
  // A job runs once; nothing is ever remembered for later.
  outstanding: async (_, rows) => rows.map(() => false),
  outstandingSql: 'false',
}
