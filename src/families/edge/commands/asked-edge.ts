import type { AskedMutation } from '../../asked-verb.ts'
import { instanceRights, rights } from '../rights.ts'
import type { InstanceKind } from '../rules/kinds.ts'
import type { EdgeCommands } from './index.ts'

/** Verbs of cloudlets and instances, as bulk operations ask them. */
export const askedEdge = (edge: EdgeCommands): Readonly<Record<string, AskedMutation>> => ({
  cancelClusterInst: cancel(edge, 'CLUSTER_INST'),
  cancelAppInst: cancel(edge, 'APP_INST'),
  deleteClusterInst: remove(edge, 'CLUSTER_INST'),
  deleteAppInst: remove(edge, 'APP_INST'),
  deleteCloudlet: {
    right: rights.deleteCloudlet,
    ask: (viewer, { id, flags }) => edge.deleteCloudlet(viewer, { id, cascade: flags.has('cascade') }),
  },
})

const cancel = (edge: EdgeCommands, kind: InstanceKind): AskedMutation => ({
  right: instanceRights[kind].cancel,
  ask: (viewer, { id, note }) => edge.cancelInstance(viewer, { kind, id, reason: note }),
})
const remove = (edge: EdgeCommands, kind: InstanceKind): AskedMutation => ({
  right: instanceRights[kind].delete,
  ask: (viewer, { id, flags }) => edge.deleteInstance(viewer, { kind, id, cascade: flags.has('cascade') }),
})
