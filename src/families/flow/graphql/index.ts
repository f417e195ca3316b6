import type { FlowCommands } from '../commands/limits.ts'
import './limit.ts'
import './mutations.ts'

declare module '../../../graphql/context.ts' {
  interface FamilyServices {
    readonly flow: FlowCommands
  }
}
