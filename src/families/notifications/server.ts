import type { FamilyServer } from '../define-family.ts'
import { apiWithoutObjects, rulesWithoutObjects } from '../without-objects.ts'
import { startNotifier } from './commands/notifier.ts'
import { bindNotifications } from './commands/rules.ts'
import './graphql/index.ts'

export const server: FamilyServer = {
  rules: rulesWithoutObjects('notifications'),
  graphql: apiWithoutObjects,
  commands: (parts) => ({ notifications: bindNotifications(parts) }),
  startWorker: startNotifier,
}
