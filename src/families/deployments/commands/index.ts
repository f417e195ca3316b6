import { type Bound, command } from '../../command.ts'
import { cancelInstallation, deleteInstallation, reconcileInstallation } from './control-installation.ts'
import { createInstallation } from './create-installation.ts'
import { deleteDataObject, setDataObject } from './data-objects.ts'
import { planInstallation } from './plan-installation.ts'
import { rollbackInstallation, updateInstallation } from './update-installation.ts'

const SPEC_REFUSALS = ['NotFoundError', 'ConflictError', 'LimitError'] as const
const JOB_REFUSALS = ['NotFoundError', 'ConflictError', 'TransitionError'] as const

/** The deployments family's mutations. Each writes a request and enqueues a wake request; the engine does the rest. */
export const deploymentsCommands = {
  createInstallation: command(createInstallation, SPEC_REFUSALS),
  updateInstallation: command(updateInstallation, SPEC_REFUSALS),
  rollbackInstallation: command(rollbackInstallation, SPEC_REFUSALS),
  deleteInstallation: command(deleteInstallation, JOB_REFUSALS),
  cancelInstallation: command(cancelInstallation, ['NotFoundError', 'TransitionError']),
  reconcileInstallation: command(reconcileInstallation, JOB_REFUSALS),
  setDataObject: command(setDataObject, ['NotFoundError', 'ConflictError']),
  deleteDataObject: command(deleteDataObject, ['NotFoundError', 'ConflictError']),
  planInstallation: command(planInstallation, SPEC_REFUSALS),
}
export type DeploymentsCommands = Bound<typeof deploymentsCommands>
