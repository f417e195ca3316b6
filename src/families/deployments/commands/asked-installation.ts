import type { ReconcileMode } from '../../../core/vocabulary.ts'
import type { AskedMutation } from '../../asked-verb.ts'
import { rights } from '../rights.ts'
import type { DeploymentsCommands } from './index.ts'

/** Verbs of installations, as bulk operations ask them. */
export const askedInstallation = (deployments: DeploymentsCommands): Readonly<Record<string, AskedMutation>> => ({
  reconcileInstallation: {
    right: rights.reconcile,
    ask: (viewer, { id, input }) =>
      deployments.reconcileInstallation(viewer, { id, mode: (input.mode ?? 'STANDARD') as ReconcileMode }),
  },
  cancelInstallation: {
    right: rights.cancel,
    ask: (viewer, { id, note }) => deployments.cancelInstallation(viewer, { id, reason: note }),
  },
  deleteInstallation: {
    right: rights.delete,
    ask: (viewer, { id, flags }) =>
      deployments.deleteInstallation(viewer, {
        id,
        withoutUninstall: flags.has('withoutUninstall'),
        force: flags.has('force'),
      }),
  },
})
