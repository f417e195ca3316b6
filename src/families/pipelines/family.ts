import type { Node, Slice } from '../../core/tree.ts'
import type { Family } from '../family.ts'
import { claimWorkload, decideWorkload } from './decide-workload.ts'
import { detailsTables, POOLS } from './details.ts'
import { effects } from './effects.ts'
import { machines } from './machines.ts'
import { findPlacementProblems } from './place-queries.ts'
import { placement } from './placement.ts'
import { reportWorkload } from './report-workload.ts'
import { grantSlots, wakeWaiting } from './slots.ts'

/** Events, their workers and jobs. */
export const pipelines: Family = {
  name: 'pipelines',
  machines,
  details: detailsTables,
  outlivingActions: ['REMOVE'],
  decide,
  // A wake request only runs the rules.
  onWake: () => {},
  report: reportWorkload,
  claimed: claimWorkload,
  placement,
  questions: { slot: grantSlots, unplaced: findPlacementProblems },
  effects,
  recoverStalled: async (client) => {
    for (const pool of POOLS) await wakeWaiting(client, pool)
  },
}

/** An event has no rules of its own: it has its worker's phase. */
function decide(node: Node, slice: Slice): void {
  if (node.row.kind !== 'EVENT') decideWorkload(node, slice)
}
