import type { Viewer } from '../../../core/ports/viewer.ts'
import { createCloudlet, deleteCloudlet, resolveCloudletUpgrade, upgradeCloudlet } from './cloudlets.ts'
import { connectCrm } from './connect-crm.ts'
import { cancelInstance, createInstance, deleteInstance, updateInstance } from './instances.ts'
import type { EdgeParts } from './parts.ts'

/** The edge family's mutations. */
export type EdgeCommands = ReturnType<typeof edgeCommands>

export function edgeCommands(parts: EdgeParts) {
  const bound =
    <I, O>(command: (parts: EdgeParts, viewer: Viewer, input: I) => O) =>
    (viewer: Viewer, input: I): O =>
      command(parts, viewer, input)
  return {
    createCloudlet: bound(createCloudlet),
    deleteCloudlet: bound(deleteCloudlet),
    upgradeCloudlet: bound(upgradeCloudlet),
    resolveCloudletUpgrade: bound(resolveCloudletUpgrade),
    createInstance: bound(createInstance),
    updateInstance: bound(updateInstance),
    deleteInstance: bound(deleteInstance),
    cancelInstance: bound(cancelInstance),
    connectCrm: bound(connectCrm),
  }
}
