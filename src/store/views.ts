import { boolean, integer, nullable, text, timestamptz, uuid } from './column-types.ts'
import { actor, objectKind, phase, work } from './tables.ts'

/** The columns of the view `phase_change`, apart from those that give the change its place in the log. */
export const phaseChange = {
  idx: integer,
  objectId: uuid,
  rootId: uuid,
  parentId: nullable(uuid),
  parentPath: nullable(text),
  projectId: nullable(uuid),
  projectName: text,
  kind: objectKind,
  name: text,
  machine: text,
  from: nullable(phase),
  to: phase,
  actor,
  by: nullable(text),
  byId: nullable(uuid),
  reason: nullable(text),
  message: nullable(text),
  jobId: nullable(uuid),
  revision: nullable(integer),
  rejected: boolean,
  at: timestamptz,
}

/** The columns of the view `agent_work` that statements outside of this folder return. */
export const agentWork = {
  type: work.type,
  target: work.target,
  jobId: work.jobId,
  instance: work.instance,
  attempt: work.attempt,
  triggeredAt: work.triggeredAt,
  pickedUpAt: work.pickedUpAt,
  offerAfter: work.offerAfter,
  abortRequestedAt: work.abortRequestedAt,
  abortCode: work.abortCode,
  progressingMs: work.progressingMs,
}
