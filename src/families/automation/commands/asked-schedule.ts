import type { AskedMutation } from '../../asked-verb.ts'
import { rights } from '../rights.ts'
import type { AutomationCommands } from './schedules.ts'

/** Verbs of schedules, as bulk operations ask them. A bulk operation is asked by none. */
export const askedSchedule = (automation: AutomationCommands): Readonly<Record<string, AskedMutation>> => ({
  fireSchedule: { right: rights.fire, ask: (viewer, { id }) => automation.fireSchedule(viewer, { id }) },
  pauseSchedule: {
    right: rights.pause,
    ask: (viewer, { id, note }) => automation.pauseSchedule(viewer, { id, reason: note }),
  },
  resumeSchedule: { right: rights.pause, ask: (viewer, { id }) => automation.resumeSchedule(viewer, { id }) },
  deleteSchedule: { right: rights.delete, ask: (viewer, { id }) => automation.deleteSchedule(viewer, { id }) },
})
