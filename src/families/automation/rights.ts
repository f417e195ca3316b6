import { ADMINS, EDITORS, PEOPLE, READERS, type Right, right } from '../../core/rights.ts'

/** Besides, the author of a schedule needs the right of what it starts, when it is written and at each firing; that of a bulk operation those of its verb. */
export const rights = {
  read: right('read', 'SCHEDULE', READERS),
  create: right('create', 'SCHEDULE', EDITORS),
  update: right('update', 'SCHEDULE', EDITORS),
  fire: right('fire', 'SCHEDULE', EDITORS),
  backfill: right('backfill', 'SCHEDULE', EDITORS),
  pause: right('pause', 'SCHEDULE', EDITORS),
  delete: right('delete', 'SCHEDULE', EDITORS),
  readBulk: right('read', 'BULK_OPERATION', READERS),
  createBulk: right('create', 'BULK_OPERATION', EDITORS),
  cancelBulk: right('cancel', 'BULK_OPERATION', EDITORS),
  deleteBulk: right('delete', 'BULK_OPERATION', EDITORS),
  readHolds: right('read', 'AUTOMATION', PEOPLE),
  hold: right('hold', 'AUTOMATION', ADMINS),
} as const satisfies Readonly<Record<string, Right>>
