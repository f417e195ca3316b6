import { AUTHORS, EDITORS, READERS, type Right, right } from '../../core/rights.ts'

export const rights = {
  readLocks: right('read', 'LOCK', READERS),
  create: right('create', 'TASK', AUTHORS),
  cancel: right('cancel', 'TASK', EDITORS),
  delete: right('delete', 'TASK', EDITORS),
  resolveUndo: right('resolve the undo of', 'GADGET_JOB', EDITORS),
} as const satisfies Readonly<Record<string, Right>>
