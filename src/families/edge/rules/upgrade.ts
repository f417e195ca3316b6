import { objectFailure } from '../../../core/errors.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import type { MoveOptions, Node, Slice } from '../../../core/tree.ts'
import type { Actor, Phase } from '../../../core/vocabulary.ts'
import { cloudletUpgrade as machine } from '../machines.ts'
import { cloudletDetails, upgradeSession } from './details.ts'
import type { Session } from './spec.ts'

declare module '../../../core/tree.ts' {
  interface FamilyEffects {
    endCrmLease: { readonly cloudletId: string; readonly epoch: number }
  }
}

/** The steps of a cloudlet's upgrade, its secondary machine. */

export function moveUpgrade(node: Node, slice: Slice, to: Phase, options: MoveOptions): void {
  slice.moveSecondary(node, machine, cloudletDetails(node).upgradePhase, to, options)
  slice.setDetails(node, { upgradePhase: to, upgradeSince: slice.now })
}

/** Restarts the timeout, since the CRM has reported. */
export function upgradeHeard(node: Node, slice: Slice): void {
  slice.setDetails(node, { upgradeDue: new Date(slice.now.getTime() + slice.timeouts.crmSilenceMs) })
}

export interface UpgradeError {
  readonly actor: Actor
  readonly by?: Principal | null
  readonly reason?: string
  readonly error: { readonly code: string; readonly message: string }
}
/** Fails the upgrade: the old CRM continues to serve until an administrator resolves the upgrade. */
export function endUpgrade(node: Node, slice: Slice, { actor, by = null, reason, error }: UpgradeError): void {
  moveUpgrade(node, slice, 'UPDATE_ERROR', { actor, by, message: error.message, ...(reason ? { reason } : {}) })
  slice.setError(node, objectFailure(slice, error.code, error.message))
  slice.patch(node, { finishedJobId: node.row.jobId })
  dropSession(node, slice, upgradeSession(node))
  slice.setDetails(node, { upgradeDue: null, wantedVersion: null })
}

/** CRM_V2 takes over. The cloudlet's rule, which runs next, applies the data that CRM_V2 gathered. */
export function completeUpgrade(node: Node, slice: Slice, session: Session, by: Principal): void {
  moveUpgrade(node, slice, 'READY', { actor: 'CRM_V2', by })
  const { sessions, replaced } = cloudletDetails(node)
  const old = sessions.filter((one) => one !== session)
  slice.setDetails(node, {
    sessions: [{ ...session, role: 'CRM' } satisfies Session],
    replaced: withReplaced(replaced, old),
    version: session.version,
    wantedVersion: null,
    upgradeDue: null,
  })
  for (const { epoch } of old) slice.effect('endCrmLease', { cloudletId: node.row.id, epoch })
  slice.patch(node, { finishedJobId: node.row.jobId })
  if (node.error) slice.setError(node, null)
  connect(node, slice, { by })
  slice.touch(node)
}

function dropSession(node: Node, slice: Slice, session: Session | null): void {
  if (!session) return
  const { sessions, replaced } = cloudletDetails(node)
  slice.setDetails(node, {
    sessions: sessions.filter((one) => one !== session),
    replaced: withReplaced(replaced, [session]),
  })
  slice.effect('endCrmLease', { cloudletId: node.row.id, epoch: session.epoch })
}

/** Number of replaced instances that are kept. An older one that reconnected would count as new. */
const MAX_REPLACED = 50
export const withReplaced = (replaced: readonly string[], old: readonly Session[]): readonly string[] =>
  [...replaced, ...old.map(({ instance }) => instance)].slice(-MAX_REPLACED)

/** Takes the steps of a CRM that has started and gathered its data, since one call of it reports all of that. */
export function connect(node: Node, slice: Slice, { by }: { readonly by: Principal }): void {
  if (node.row.phase === 'READY') return
  if (node.row.phase === 'OFFLINE') slice.move(node, 'INIT', { actor: 'CRM', by })
  if (node.row.phase === 'INIT') slice.move(node, 'INIT_OK')
  slice.move(node, 'READY', { actor: 'CRM', by })
  slice.patch(node, { observedGeneration: node.row.generation })
  slice.setDetails(node, { connectDue: null })
}
