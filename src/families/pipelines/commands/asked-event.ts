import type { AskedMutation } from '../../asked-verb.ts'
import { rights } from '../rights.ts'
import type { PipelinesCommands } from './index.ts'

/** Verbs of events and jobs, as bulk operations ask them. */
export const askedEvent = (pipelines: PipelinesCommands): Readonly<Record<string, AskedMutation>> => ({
  cancelEvent: {
    right: rights.cancelEvent,
    ask: (viewer, { id, note }) => pipelines.cancelEvent(viewer, { id, reason: note }),
  },
  cancelJob: {
    right: rights.cancelJob,
    ask: (viewer, { id, note }) => pipelines.cancelJob(viewer, { id, reason: note, timedOut: false }),
  },
  deleteEvent: { right: rights.deleteEvent, ask: (viewer, { id }) => pipelines.deleteEvent(viewer, { id }) },
  retryEvent: {
    right: rights.createEvent,
    doneSql: 'exists (select from event r where r.retry_of = o.id)',
    ask: (viewer, { id }) => pipelines.retryEvent(viewer, { id }),
  },
})
