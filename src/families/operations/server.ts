import type { Node, Slice } from '../../core/tree.ts'
import type { FamilyServer } from '../define-family.ts'
import type { Family } from '../family.ts'
import { askedTask } from './commands/asked-task.ts'
import { bindOperations } from './commands/index.ts'
import { taskTrigger } from './commands/task-trigger.ts'
import { operationsGraphql } from './graphql/index.ts'
import { machines } from './machines.ts'
import { claimJob, decideJob, gates, resolveBackoff } from './rules/decide-job.ts'
import { decideTask } from './rules/decide-task.ts'
import { reportJob } from './rules/report-job.ts'
import { detailsTables } from './store/details.ts'
import { effects } from './store/effects.ts'
import { questions, wakeHolders } from './store/queries.ts'

/** Tasks and the jobs of their gadgets. */
export const rules: Family = {
  name: 'operations',
  machines,
  details: detailsTables,
  decide,
  // A wake request only runs the rules.
  onWake: () => {},
  report: reportJob,
  resolveBackoff,
  gates,
  claimed: claimJob,
  questions,
  effects,
  recoverStalled: wakeHolders,
}

function decide(node: Node, slice: Slice): void {
  if (node.row.kind === 'TASK') decideTask(node, slice)
  else decideJob(node, slice)
}

export const server: FamilyServer = {
  rules,
  graphql: operationsGraphql,
  commands: (parts) => ({ operations: bindOperations(parts) }),
  verbs: ({ operations }) => operations.verbs,
  triggers: ({ operations }) => ({ createTask: taskTrigger(operations) }),
  asked: ({ operations }) => askedTask(operations),
}
