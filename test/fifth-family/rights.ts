import { EDITORS, right } from '../../src/core/rights.ts'

export const rights = {
  create: right('create', 'BACKUP', EDITORS),
  cancel: right('cancel', 'BACKUP', EDITORS),
  delete: right('delete', 'BACKUP', EDITORS),
} as const
