import type { AskedMutation } from '../../asked-verb.ts'
import { rights } from '../rights.ts'
import type { OperationsCommands } from './index.ts'

/** Verbs of tasks, as bulk operations ask them. */
export const askedTask = (operations: OperationsCommands): Readonly<Record<string, AskedMutation>> => ({
  cancelTask: {
    right: rights.cancel,
    ask: (viewer, { id, note }) => operations.cancelTask(viewer, { id, reason: note }),
  },
  retryTask: {
    right: rights.create,
    doneSql: 'exists (select from task r where r.retry_of = o.id)',
    ask: (viewer, { id, input }) => operations.retryTask(viewer, { ...input, id }),
  },
  deleteTask: { right: rights.delete, ask: (viewer, { id }) => operations.deleteTask(viewer, { id }) },
})
