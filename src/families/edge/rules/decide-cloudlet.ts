import { isDue } from '../../../core/deadline.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import { cloudletDetails, isUpgrading, servingSession } from './details.ts'
import { instancesOf, resyncAll } from './resync-all.ts'
import { endUpgrade } from './upgrade.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    crmLeases: { readonly args: string; readonly answer: readonly Lease[] }
  }
  interface FamilyEffects {
    endCrmLeases: string
  }
}

/** Rules of a cloudlet: the lease of its CRM and the steps of its upgrade. */
export function decideCloudlet(node: Node, slice: Slice): void {
  const leases = slice.ask('crmLeases', node.row.id)
  if (!leases || !takeIn(node, slice)) return
  if (isUpgrading(node) && isDue(cloudletDetails(node).upgradeDue, slice.now)) {
    const seconds = Math.round(slice.timeouts.crmSilenceMs / 1_000)
    const message = `Nothing was heard of the upgrade for ${seconds} s.`
    endUpgrade(node, slice, { actor: 'CONTROLLER', reason: 'timeout', error: { code: 'TIMEOUT', message } })
  }
  const valid = leases.filter(({ until }) => !isDue(new Date(until), slice.now))
  if (valid.length === 0) goOffline(node, slice)
  watch(node, slice, valid)
}

/** Applies the data of a CRM that has taken over. False: the instances are not loaded yet. */
function takeIn(node: Node, slice: Slice): boolean {
  const session = servingSession(node)
  if (!session?.objects) return true
  const known = instancesOf(node, slice)
  if (!known) return false
  resyncAll({ cloudlet: node, known }, slice, session.objects, { by: session, isNew: true })
  const { sessions } = cloudletDetails(node)
  slice.setDetails(node, { sessions: sessions.map((one) => (one === session ? { ...session, objects: null } : one)) })
  return true
}

/** Lease of one session; the time in milliseconds since 1970. */
export interface Lease {
  readonly epoch: number
  readonly until: number
}

/** The current epoch has disconnected, and no newer one has connected. The same process may reconnect. */
function goOffline(node: Node, slice: Slice): void {
  const { phase } = node.row
  if (phase === 'OFFLINE') return
  const { connectDue, sessions } = cloudletDetails(node)
  const isAwaited = sessions.length === 0 && connectDue !== null && !isDue(connectDue, slice.now)
  if (isAwaited) return
  const message = sessions.length === 0 ? 'No CRM has connected.' : 'Its CRM has disconnected, or was not heard of.'
  slice.move(node, 'OFFLINE', { message })
  slice.setDetails(node, { connectDue: null })
  slice.effect('endCrmLeases', node.row.id)
}

/** The next moment at which a lease or timeout ends. */
function watch(node: Node, slice: Slice, valid: readonly Lease[]): void {
  const { phase } = node.row
  const { upgradeDue, connectDue } = cloudletDetails(node)
  const limits = [
    ...(phase === 'OFFLINE' ? [] : valid.map(({ until }) => until)),
    ...(isUpgrading(node) && upgradeDue ? [upgradeDue.getTime()] : []),
    ...(connectDue && phase === 'INIT' ? [connectDue.getTime()] : []),
  ]
  slice.setClock(node, limits.length > 0 ? new Date(Math.min(...limits)) : null)
}
