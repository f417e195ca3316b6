import type { FamilyApi } from '../../../graphql/family.ts'
import type { AutomationCommands } from '../commands/schedules.ts'
import './bulk.ts'
import './bulk-mutations.ts'
import './holds.ts'
import './schedule.ts'
import './schedule-mutations.ts'
import { scheduleLoader } from './loaders.ts'

declare module '../../../graphql/context.ts' {
  interface FamilyServices {
    readonly automation: AutomationCommands
  }
}

const DUE = 'It fires then.'
const OVERDUE = 'It counts as overdue if nothing that it has started has succeeded by then.'

/** The automation family's part of the API. */
export const automationGraphql: FamilyApi = {
  blockers: async (_, rows) => rows.map(() => []),
  async deadlines(context, rows) {
    return await Promise.all(
      rows.map(async ({ id, phaseSince }) => {
        const { due, lastDue, overdueAt } = (await scheduleLoader(context).load(id)) ?? {}
        const since = lastDue ?? phaseSince
        return [
          ...(due ? [{ name: 'due', since, expiresAt: due, to: null, message: DUE }] : []),
          ...(overdueAt ? [{ name: 'overdue', since, expiresAt: overdueAt, to: null, message: OVERDUE }] : []),
        ]
      }),
    )
  },
  // Neither a schedule nor a bulk operation has a job.
  outstanding: async (_, rows) => rows.map(() => false),
  outstandingSql: 'false',
}
