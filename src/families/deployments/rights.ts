import { ADMINS, AUTHORS, EDITORS, PEOPLE, type Right, right } from '../../core/rights.ts'

export const rights = {
  plan: right('plan', 'INSTALLATION', PEOPLE),
  /** Ask agents what would change at the targets, and read it: it uses their credentials, and shows what is there. */
  dryRun: right('dry-run', 'INSTALLATION', EDITORS),
  create: right('create', 'INSTALLATION', EDITORS),
  update: right('update', 'INSTALLATION', EDITORS),
  /** Besides the right to create or update, for items of types that bring code. */
  bringCode: right('bring code with', 'DEPLOY_ITEM', AUTHORS),
  reconcile: right('reconcile', 'INSTALLATION', EDITORS),
  cancel: right('cancel', 'INSTALLATION', EDITORS),
  delete: right('delete', 'INSTALLATION', EDITORS),
  setData: right('set', 'DATA_OBJECT', EDITORS),
  deleteData: right('delete', 'DATA_OBJECT', EDITORS),
  readTargets: right('read', 'TARGET', [...PEOPLE, 'AGENT']),
  setTarget: right('set', 'TARGET', ADMINS),
  deleteTarget: right('delete', 'TARGET', ADMINS),
} as const satisfies Readonly<Record<string, Right>>
