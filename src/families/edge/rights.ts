import { ADMINS, AGENTS, AUTHORS, EDITORS, type Right, right } from '../../core/rights.ts'

const ofInstance = (kind: 'CLUSTER_INST' | 'APP_INST') => ({
  create: right('create', kind, EDITORS),
  update: right('update', kind, EDITORS),
  cancel: right('cancel', kind, EDITORS),
  delete: right('delete', kind, EDITORS),
})

export const rights = {
  createCloudlet: right('create', 'CLOUDLET', EDITORS),
  upgradeCloudlet: right('upgrade', 'CLOUDLET', EDITORS),
  deleteCloudlet: right('delete', 'CLOUDLET', EDITORS),
  resolveUpgrade: right('resolve the upgrade of', 'CLOUDLET', ADMINS),
  /** Besides the right to create or update one. */
  bringCode: right('bring code with', 'APP_INST', AUTHORS),
  serveCloudlet: right('serve', 'CLOUDLET', AGENTS, { actor: 'CRM' }),
} as const satisfies Readonly<Record<string, Right>>

export const instanceRights = { CLUSTER_INST: ofInstance('CLUSTER_INST'), APP_INST: ofInstance('APP_INST') } as const

export const allRights: readonly Right[] = [rights, instanceRights.CLUSTER_INST, instanceRights.APP_INST].flatMap(
  (some) => Object.values<Right>(some),
)
