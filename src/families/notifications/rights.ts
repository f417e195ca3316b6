import { EDITORS, PEOPLE, type Right, right } from '../../core/rights.ts'

/** A rule tells what its last editor may read. */
export const rights = {
  read: right('read', 'NOTIFICATION', PEOPLE),
  create: right('create', 'NOTIFICATION', EDITORS),
  update: right('update', 'NOTIFICATION', EDITORS),
  delete: right('delete', 'NOTIFICATION', EDITORS),
  send: right('send', 'NOTIFICATION', EDITORS),
} as const satisfies Readonly<Record<string, Right>>
