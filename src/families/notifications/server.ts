import type { FamilyServer } from '../define-family.ts'
import type { Family } from '../family.ts'
import { startNotifier } from './commands/notifier.ts'
import { bindNotifications } from './commands/rules.ts'
import { notificationsGraphql } from './graphql/index.ts'

/** It has no objects, so nothing of the engine's comes here. */
const rules: Family = {
  name: 'notifications',
  machines: [],
  details: [],
  decide: () => {},
  onWake: () => {},
  report: (_, { phase }) => ({ ok: false, refused: 'TRANSITION', to: phase ?? 'GONE' }),
  claimed: () => {},
  questions: {},
  effects: {},
}

export const server: FamilyServer = {
  rules,
  graphql: notificationsGraphql,
  commands: (parts) => ({ notifications: bindNotifications(parts) }),
  startWorker: startNotifier,
}
