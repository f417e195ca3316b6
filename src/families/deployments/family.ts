import type { Node, Slice } from '../../core/tree.ts'
import type { Family } from '../family.ts'
import { decideExecution } from './decide-execution.ts'
import { decideInstallation } from './decide-installation.ts'
import { claimItem, decideItem } from './decide-item.ts'
import { detailsTables } from './details.ts'
import { effects } from './effects.ts'
import { machines } from './machines.ts'
import { onWake } from './on-wake.ts'
import { questions } from './queries.ts'
import { reportItem } from './report-item.ts'

/** Installations, their executions and deploy items. */
export const deployments: Family = {
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
