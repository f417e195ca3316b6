import { bindCommands, command } from '../../command.ts'
import { verbOf } from '../../creation.ts'
import { findRootId } from '../store/find-root-id.ts'
import { readTargetCredentials } from '../store/target-credentials.ts'
import { cancelInstallation, deleteInstallation, reconcileInstallation } from './control-installation.ts'
import { createInstallation, type InstallationRefusal, installationCreation } from './create-installation.ts'
import { deleteDataObject, setDataObject } from './data-objects.ts'
import { dryRunInstallation, reportDryRuns } from './dry-run.ts'
import type { NewInstallation } from './inputs.ts'
import type { CommandParts } from './parts.ts'
import { planInstallation } from './plan-installation.ts'
import { deleteTarget, setTarget } from './targets.ts'
import { rollbackInstallation, updateInstallation } from './update-installation.ts'

const SPEC_REFUSALS = ['NotFoundError', 'ConflictError', 'LimitError'] as const
const JOB_REFUSALS = ['NotFoundError', 'ConflictError', 'TransitionError'] as const

/** The deployments family's mutations. Each writes a request and enqueues a wake request; the engine does the rest. */
export const deploymentsCommands = {
  createInstallation: command(createInstallation, SPEC_REFUSALS),
  updateInstallation: command(updateInstallation, SPEC_REFUSALS),
  rollbackInstallation: command(rollbackInstallation, SPEC_REFUSALS),
  deleteInstallation: command(deleteInstallation, JOB_REFUSALS),
  cancelInstallation: command(cancelInstallation, JOB_REFUSALS),
  reconcileInstallation: command(reconcileInstallation, JOB_REFUSALS),
  setDataObject: command(setDataObject, ['NotFoundError', 'ConflictError']),
  deleteDataObject: command(deleteDataObject, ['NotFoundError', 'ConflictError']),
  setTarget: command(setTarget, ['ConflictError', 'LimitError']),
  deleteTarget: command(deleteTarget, ['NotFoundError', 'ConflictError']),
  planInstallation: command(planInstallation, SPEC_REFUSALS),
  dryRunInstallation: command(dryRunInstallation, ['NotFoundError', 'LimitError']),
  reportDryRuns: command(reportDryRuns, []),
}

declare module '../../creation.ts' {
  interface Verbs {
    readonly createInstallation?: CreationVerb<NewInstallation, InstallationRefusal>
  }
}

/** The mutations, how others create installations, and the credentials for claimed items. */
export type DeploymentsCommands = ReturnType<typeof bindDeployments>

export const bindDeployments = (parts: CommandParts) => ({
  ...bindCommands(parts, deploymentsCommands),
  verbs: { createInstallation: verbOf(parts, installationCreation) },
  /** The root installation of this name; null: there is none. */
  idOf: (project: string, name: string) => findRootId(parts.pool, project, name),
  credentialsOf: (target: { readonly projectId: string; readonly name: string }) =>
    readTargetCredentials(parts.pool, parts.sealing, target),
})
