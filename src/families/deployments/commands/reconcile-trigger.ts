import { notFound } from '../../../core/errors.ts'
import { isName, NAME_RULE } from '../../../core/problems.ts'
import type { ReconcileMode } from '../../../core/vocabulary.ts'
import { refuse } from '../../access.ts'
import type { Trigger, TriggerInput } from '../../trigger.ts'
import { rights } from '../rights.ts'
import type { DeploymentsCommands } from './index.ts'

/** A job of a root installation, which is found by its name at each firing. */
export const reconcileTrigger = (deployments: DeploymentsCommands): Trigger => ({
  right: rights.reconcile,
  template: () => null,
  check(input, path, problems) {
    if (!isName(requestOf(input).name)) problems.add(`${path}.name`, NAME_RULE)
  },
  async run(viewer, { project, input }) {
    const { name, mode } = requestOf(input)
    const id = await deployments.idOf(project, name)
    return id === null
      ? refuse(notFound(null, 'installation', name))
      : await deployments.reconcileInstallation(viewer, { id, mode })
  },
  cancel: (viewer, id, reason) => deployments.cancelInstallation(viewer, { id, reason }),
})

const requestOf = ({ name, mode }: TriggerInput) => ({
  name: String(name),
  mode: (mode ?? 'STANDARD') as ReconcileMode,
})
