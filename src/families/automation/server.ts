import type { Node, Slice } from '../../core/tree.ts'
import type { FamilyServer } from '../define-family.ts'
import type { Family } from '../family.ts'
import { askedSchedule } from './commands/asked-schedule.ts'
import { startBulk } from './commands/bulk-dispatcher.ts'
import { startDispatcher } from './commands/dispatcher.ts'
import { bindAutomation } from './commands/schedules.ts'
import { automationGraphql } from './graphql/index.ts'
import { machines } from './machines.ts'
import { decideSchedule } from './rules/decide-schedule.ts'
import { onWake } from './rules/on-wake.ts'
import { bulkEffects, bulkTables } from './store/bulk.ts'
import { detailsTables, effects } from './store/firings.ts'

/** Schedules and bulk operations, which start and ask roots of other families. */
export const rules: Family = {
  name: 'automation',
  machines,
  details: [...detailsTables, ...bulkTables],
  isLone: true,
  decide,
  onWake,
  // No agent works on either.
  report: (_, { phase }) => ({ ok: false, refused: 'TRANSITION', to: phase ?? 'GONE' }),
  claimed: () => {},
  questions: {},
  effects: { ...effects, ...bulkEffects },
}

/** A bulk operation has no rules: what asks its targets moves it, too. */
function decide(node: Node, slice: Slice): void {
  if (node.row.kind === 'SCHEDULE') decideSchedule(node, slice)
}

export const server: FamilyServer = {
  rules,
  graphql: automationGraphql,
  commands: (parts, { triggers, askedVerbs }) => ({ automation: bindAutomation({ ...parts, triggers, askedVerbs }) }),
  asked: ({ automation }) => askedSchedule(automation),
  startWorker(parts, services) {
    const workers = new AsyncDisposableStack()
    const { isAtRest } = workers.use(startDispatcher(parts, services))
    workers.use(startBulk(parts, services))
    return { isAtRest, [Symbol.asyncDispose]: () => workers.disposeAsync() }
  },
}
