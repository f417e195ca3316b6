import type { Node, Slice } from '../../core/tree.ts'
import type { FamilyServer } from '../define-family.ts'
import type { Family } from '../family.ts'
import { askedInstallation } from './commands/asked-installation.ts'
import { bindDeployments } from './commands/index.ts'
import { reconcileTrigger } from './commands/reconcile-trigger.ts'
import { deploymentsGraphql } from './graphql/index.ts'
import { machines } from './machines.ts'
import { decideExecution } from './rules/decide-execution.ts'
import { decideInstallation } from './rules/decide-installation.ts'
import { claimItem, decideItem, resolveBackoff } from './rules/decide-item.ts'
import { gates } from './rules/gate.ts'
import { onWake } from './rules/on-wake.ts'
import { reportItem } from './rules/report-item.ts'
import { detailsTables } from './store/details.ts'
import { claimDryRuns, renewDryRuns } from './store/dry-runs.ts'
import { effects } from './store/effects.ts'
import { freeItemLimits, recoverLimited } from './store/limits.ts'
import { questions } from './store/queries.ts'

/** Installations, their executions and deploy items. */
export const rules: Family = {
  name: 'deployments',
  machines,
  details: detailsTables,
  decide,
  onWake,
  gates,
  report: reportItem,
  resolveBackoff,
  claimed: claimItem,
  renew: renewDryRuns,
  claimDryRuns,
  questions,
  effects,
  sharedEffects: { limitsFreed: freeItemLimits },
  recoverStalled: recoverLimited,
}

function decide(node: Node, slice: Slice): void {
  if (node.row.kind === 'DEPLOY_ITEM') decideItem(node, slice)
  else if (node.row.kind === 'EXECUTION') decideExecution(node, slice)
  else decideInstallation(node, slice)
}

export const server: FamilyServer = {
  rules,
  graphql: deploymentsGraphql,
  commands: (parts) => ({ deployments: bindDeployments(parts) }),
  verbs: ({ deployments }) => deployments.verbs,
  triggers: ({ deployments }) => ({ reconcileInstallation: reconcileTrigger(deployments) }),
  asked: ({ deployments }) => askedInstallation(deployments),
}
