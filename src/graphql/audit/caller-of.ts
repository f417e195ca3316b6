import type { AuditCaller } from '../../core/audit.ts'
import type { Viewer } from '../../core/ports/viewer.ts'

export const callerOf = ({ principalId, name, tokenId, actor, origin }: Viewer): AuditCaller => ({
  principalId,
  principalName: name,
  tokenId,
  actor,
  address: origin?.address ?? null,
  requestId: origin?.requestId ?? null,
})
