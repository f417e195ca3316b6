import { openFence } from '../../store/fence.ts'
import { bindCommands } from '../command.ts'
import type { FamilyServer } from '../define-family.ts'
import type { Family } from '../family.ts'
import { askedEdge } from './commands/asked-edge.ts'
import { edgeCommands } from './commands/index.ts'
import { edgeGraphql } from './graphql/index.ts'
import { machines } from './machines.ts'
import { decideCloudlet } from './rules/decide-cloudlet.ts'
import { decideInstance } from './rules/decide-instance.ts'
import { isFromReplacedCrm } from './rules/details.ts'
import { reportCloudlet } from './rules/report-cloudlet.ts'
import { reportInstance } from './rules/report-instance.ts'
import { detailsTables } from './store/details.ts'
import { effects } from './store/effects.ts'
import { sessionByHash } from './store/fences.ts'
import { questions, renewSessions } from './store/queries.ts'

/** Cloudlets, their cluster instances and app instances. */
export const rules: Family = {
  name: 'edge',
  machines,
  details: detailsTables,
  gonePhases: ['NOT_PRESENT'],
  decide: (node, slice) => (node.row.kind === 'CLOUDLET' ? decideCloudlet(node, slice) : decideInstance(node, slice)),
  // A wake request only runs the rules.
  onWake: () => {},
  report(node, report, by, slice) {
    const fence = node.row.kind === 'CLOUDLET' ? openFence(report.fence) : null
    const session = fence && sessionByHash(node, fence.hash, by.principalId)
    if (!session && isFromReplacedCrm(node, slice.root)) return { ok: false, refused: 'STALE' }
    if (node.row.kind !== 'CLOUDLET') return reportInstance(node, report, by, slice)
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

export const server: FamilyServer = {
  rules,
  graphql: edgeGraphql,
  commands: (parts) => ({ edge: bindCommands(parts, edgeCommands) }),
  asked: ({ edge }) => askedEdge(edge),
}
