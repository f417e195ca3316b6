import { type Bound, command } from '../../command.ts'
import { createCloudlet, deleteCloudlet, resolveCloudletUpgrade, upgradeCloudlet } from './cloudlets.ts'
import { connectCrm } from './connect-crm.ts'
import { cancelInstance, createInstance, deleteInstance, updateInstance } from './instances.ts'

const CLOUDLET_REFUSALS = ['NotFoundError', 'ConflictError', 'TransitionError'] as const

/** The edge family's mutations. */
export const edgeCommands = {
  createCloudlet: command(createCloudlet, ['ConflictError']),
  deleteCloudlet: command(deleteCloudlet, CLOUDLET_REFUSALS),
  upgradeCloudlet: command(upgradeCloudlet, CLOUDLET_REFUSALS),
  resolveCloudletUpgrade: command(resolveCloudletUpgrade, CLOUDLET_REFUSALS),
  createInstance: command(createInstance, ['NotFoundError', 'ConflictError']),
  updateInstance: command(updateInstance, ['NotFoundError', 'ConflictError']),
  deleteInstance: command(deleteInstance, ['NotFoundError', 'ConflictError']),
  cancelInstance: command(cancelInstance, ['NotFoundError', 'TransitionError']),
  connectCrm: command(connectCrm, ['NotFoundError', 'StaleReportError']),
}
export type EdgeCommands = Bound<typeof edgeCommands>
