import type { NotificationCommands } from '../commands/rules.ts'
import './rule.ts'
import './mutations.ts'

declare module '../../../graphql/context.ts' {
  interface FamilyServices {
    readonly notifications: NotificationCommands
  }
}
