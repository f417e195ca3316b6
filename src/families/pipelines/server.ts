import type { Node, Slice } from '../../core/tree.ts'
import type { Client } from '../../store/client.ts'
import type { FamilyServer } from '../define-family.ts'
import type { Family } from '../family.ts'
import { askedEvent } from './commands/asked-event.ts'
import { eventTrigger } from './commands/event-trigger.ts'
import { bindPipelines } from './commands/index.ts'
import { pipelinesGraphql } from './graphql/index.ts'
import { machines } from './machines.ts'
import { findPlacementProblems } from './placement/store/place-queries.ts'
import { placement } from './placement/store/placement.ts'
import { claimWorkload, decideWorkload, resolveBackoff } from './rules/decide-workload.ts'
import { POOLS } from './rules/details.ts'
import { gates } from './rules/gate.ts'
import { onWake } from './rules/limits.ts'
import { reportWorkload } from './rules/report-workload.ts'
import { findEventScopes } from './store/claim-payload.ts'
import { detailsTables } from './store/details.ts'
import { effects, giveSlotsBack } from './store/effects.ts'
import { dropStaleTickets, grantSlots, setCapacity, wakeStalledAttempts, wakeWaiting } from './store/slots.ts'
import { createWorkerTokens } from './store/worker-tokens.ts'

/** Events, their workers and jobs. */
export const rules: Family = {
  name: 'pipelines',
  machines,
  details: detailsTables,
  isUncounted: true,
  outlivingActions: ['REMOVE'],
  decide,
  onWake,
  report: reportWorkload,
  resolveBackoff,
  gates,
  claimed: claimWorkload,
  placement,
  questions: { slot: grantSlots, unplaced: findPlacementProblems, eventScope: findEventScopes },
  effects,
  sharedEffects: { slotFreed: giveSlotsBack },
  limitsChanged: wakeAllWaiting,
  recoverStalled: async (client, time) => {
    await dropStaleTickets(client)
    await wakeAllWaiting(client, time)
    await wakeStalledAttempts(client)
  },
}

/** An event has no rules of its own: it has its worker's phase. */
function decide(node: Node, slice: Slice): void {
  if (node.row.kind !== 'EVENT') decideWorkload(node, slice)
}

async function wakeAllWaiting(client: Client, time: Date | null): Promise<void> {
  for (const pool of POOLS) await wakeWaiting(client, pool, time)
}

export const server: FamilyServer = {
  rules,
  graphql: pipelinesGraphql,
  commands: (parts, { verbs }) => ({ pipelines: bindPipelines({ ...parts, verbs }) }),
  verbs: ({ pipelines }) => pipelines.verbs,
  triggers: ({ pipelines }) => ({ createEvent: eventTrigger(pipelines) }),
  asked: ({ pipelines }) => askedEvent(pipelines),
  tokens: ({ pool, sealing }) => createWorkerTokens(pool, sealing),
  prepare: ({ pool, config }) => setCapacity(pool, config.capacity),
}
