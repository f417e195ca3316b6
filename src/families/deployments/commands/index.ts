import type { Viewer } from '../../../core/ports/viewer.ts'
import { cancelInstallation, deleteInstallation, reconcileInstallation } from './control-installation.ts'
import { createInstallation } from './create-installation.ts'
import { deleteDataObject, setDataObject } from './data-objects.ts'
import type { CommandParts } from './parts.ts'
import { planInstallation } from './plan-installation.ts'
import { rollbackInstallation, updateInstallation } from './update-installation.ts'

/** The deployments family's mutations. Each writes a request and enqueues a wake request; the engine does the rest. */
export type DeploymentsCommands = ReturnType<typeof deploymentsCommands>

export function deploymentsCommands(parts: CommandParts) {
  const bound =
    <I, O>(command: (parts: CommandParts, viewer: Viewer, input: I) => O) =>
    (viewer: Viewer, input: I): O =>
      command(parts, viewer, input)
  return {
    createInstallation: bound(createInstallation),
    updateInstallation: bound(updateInstallation),
    rollbackInstallation: bound(rollbackInstallation),
    deleteInstallation: bound(deleteInstallation),
    cancelInstallation: bound(cancelInstallation),
    reconcileInstallation: bound(reconcileInstallation),
    setDataObject: bound(setDataObject),
    deleteDataObject: bound(deleteDataObject),
    planInstallation: bound(planInstallation),
  }
}
