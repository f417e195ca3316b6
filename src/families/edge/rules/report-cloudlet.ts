import type { Report } from '../../../core/ports/agents.ts'
import type { Principal } from '../../../core/ports/viewer.ts'
import type { Node, Slice } from '../../../core/tree.ts'
import type { ReportVerdict } from '../../family.ts'
import { cloudletUpgrade as machine } from '../machines.ts'
import { cloudletDetails, isUpgrading, servingSession } from './details.ts'
import type { Session } from './spec.ts'
import { completeUpgrade, endUpgrade, moveUpgrade, upgradeHeard } from './upgrade.ts'

const ACCEPTED: ReportVerdict = { ok: true, changed: true }
const UNCHANGED: ReportVerdict = { ok: true, changed: false }

/** Reports of an upgrade from the serving CRM and from the new one. */
export function reportCloudlet(
  node: Node,
  report: Report,
  session: Session | null,
  { by, slice }: { readonly by: Principal; readonly slice: Slice },
): ReportVerdict {
  if (report.progress) slice.setProgress(node, report.progress)
  if (isUpgrading(node)) upgradeHeard(node, slice)
  if (!report.phase) return UNCHANGED
  const actor = session?.role === 'CRM_V2' ? 'CRM_V2' : 'CRM_V1'
  const from = cloudletDetails(node).upgradePhase
  // In UPDATE_ERROR the old CRM continues to serve, so its READY changes nothing.
  const to = from === 'UPDATE_ERROR' && report.phase === 'READY' && actor === 'CRM_V1' ? from : report.phase
  // A repeated READY of CRM_V2.
  if (from === 'READY' && to === 'READY' && session && session === servingSession(node)) return UNCHANGED
  const verdict = slice.judge(node, actor, to, { machine, from })
  if (!verdict.ok) return { ok: false, refused: 'TRANSITION', to, actor, secondary: { machine, from } }
  if (!verdict.changed) return UNCHANGED
  if (to === 'READY' && session) completeUpgrade(node, slice, session, by)
  else if (to === 'UPDATE_ERROR') {
    const message = report.message ?? 'The new CRM could not be brought up.'
    endUpgrade(node, slice, { actor, by, error: report.error ?? { code: 'UPDATE_ERROR', message } })
  } else moveUpgrade(node, slice, to, { actor, by, message: report.message ?? null })
  slice.touch(node)
  return ACCEPTED
}
