import type { Node, Slice } from '../../core/tree.ts'
import type { Family } from '../family.ts'
import { claimJob, decideJob } from './decide-job.ts'
import { decideTask } from './decide-task.ts'
import { detailsTables } from './details.ts'
import { effects } from './effects.ts'
import { machines } from './machines.ts'
import { questions, wakeHolders } from './queries.ts'
import { reportJob } from './report-job.ts'

/** Tasks and the jobs of their gadgets. */
export const operations: Family = {
  name: 'operations',
  machines,
  details: detailsTables,
  decide,
  // A wake request only runs the rules.
  onWake: () => {},
  report: reportJob,
  claimed: claimJob,
  questions,
  effects,
  recoverStalled: wakeHolders,
}

function decide(node: Node, slice: Slice): void {
  if (node.row.kind === 'TASK') decideTask(node, slice)
  else decideJob(node, slice)
}
