import type { FamilyServer } from '../define-family.ts'
import { pipelinesCommands } from './commands.ts'
import { pipelines } from './family.ts'
import { pipelinesGraphql } from './graphql.ts'
import { setCapacity } from './slots.ts'
import { createWorkerTokens } from './worker-tokens.ts'

export const server: FamilyServer = {
  rules: pipelines,
  graphql: pipelinesGraphql,
  commands: (parts, services) => ({
    pipelines: pipelinesCommands({
      ...parts,
      // The family that runs tasks may be created later.
      get tasks() {
        return services.tasks
      },
    }),
  }),
  tokens: ({ pool, sealing }) => createWorkerTokens(pool, sealing),
  prepare: ({ pool, config }) => setCapacity(pool, config.capacity),
}
