import type { Node, Slice } from '../../core/tree.ts'
import { bindCommands } from '../command.ts'
import type { FamilyServer } from '../define-family.ts'
import type { Family } from '../family.ts'
import { deploymentsCommands } from './commands/index.ts'
import { deploymentsGraphql } from './graphql/index.ts'
import { machines } from './machines.ts'
import { decideExecution } from './rules/decide-execution.ts'
import { decideInstallation } from './rules/decide-installation.ts'
import { claimItem, decideItem } from './rules/decide-item.ts'
import { onWake } from './rules/on-wake.ts'
import { reportItem } from './rules/report-item.ts'
import { detailsTables } from './store/details.ts'
import { effects } from './store/effects.ts'
import { questions } from './store/queries.ts'

/** Installations, their executions and deploy items. */
export const rules: Family = {
  name: 'deployments',
  machines,
  details: detailsTables,
  decide,
  onWake,
  report: reportItem,
  claimed: claimItem,
  questions,
  effects,
}

function decide(node: Node, slice: Slice): void {
  if (node.row.kind === 'DEPLOY_ITEM') decideItem(node, slice)
  else if (node.row.kind === 'EXECUTION') decideExecution(node, slice)
  else decideInstallation(node, slice)
}

export const server: FamilyServer = {
  rules,
  graphql: deploymentsGraphql,
  commands: ({ pool, ...parts }) => ({ deployments: bindCommands({ ...parts, client: pool }, deploymentsCommands) }),
}
