import { openFence } from '../../store/fence.ts'
import type { Family } from '../family.ts'
import { decideCloudlet } from './decide-cloudlet.ts'
import { decideInstance } from './decide-instance.ts'
import { detailsTables } from './details.ts'
import { effects } from './effects.ts'
import { sessionByHash } from './fences.ts'
import { machines } from './machines.ts'
import { questions, renewSessions } from './queries.ts'
import { reportCloudlet } from './report-cloudlet.ts'
import { reportInstance } from './report-instance.ts'

/** Cloudlets, their cluster instances and app instances. */
export const edge: Family = {
  name: 'edge',
  machines,
  details: detailsTables,
  gonePhases: ['NOT_PRESENT'],
  decide: (node, slice) => (node.row.kind === 'CLOUDLET' ? decideCloudlet(node, slice) : decideInstance(node, slice)),
  // A wake request only runs the rules.
  onWake: () => {},
  report(node, report, by, slice) {
    if (node.row.kind !== 'CLOUDLET') return reportInstance(node, report, by, slice)
    const fence = openFence(report.fence)
    const session = fence && sessionByHash(node, fence.hash, by.principalId)
    return reportCloudlet(node, report, session, { by, slice })
  },
  holds: (node, hash, principalId) => node.row.kind === 'CLOUDLET' && sessionByHash(node, hash, principalId) !== null,
  renew: renewSessions,
  claimed(node) {
    throw new Error(`${node.row.name} is dispatched to its CRM and cannot be claimed`)
  },
  questions,
  effects,
}
