/** The published client: queries, resumable streams, and the loop that agents are made of. */

export type { PlannedAction, PlannedChange, PlannedField } from '../core/dry-run.ts'
export type { TypedDocument } from '../documents/typed-document.ts'
export {
  type CrmContext,
  type CrmDriver,
  type CrmEnd,
  type CrmError,
  type CrmObject,
  type CrmOptions,
  CrmProblem,
  type CrmRequest,
  type CrmStopReason,
  type CrmUpgrade,
} from '../families/edge/protocol/crm.ts'
export { runCrm } from '../families/edge/protocol/run-crm.ts'
export type { AgentOptions, AgentProblem, TargetSelector } from './agent/agent.ts'
export { runAgent } from './agent/run-agent.ts'
export type {
  DryRun,
  DryRunOutcome,
  InterimReport,
  LogStream,
  ReportedError,
  ReportedProgress,
  StopReason,
  TargetCredentials,
  Work,
  WorkContext,
  WorkItem,
  WorkOutcome,
} from './agent/work.ts'
export type { ArtifactContent, ArtifactUpload } from './artifacts.ts'
export type {
  Client,
  ClientOptions,
  ConnectionState,
  QueryOptions,
  SubscribeOptions,
  Variables,
} from './client.ts'
export { ClientError, type ClientErrorKind } from './client-error.ts'
export { createClient } from './create-client.ts'
export { type FollowOptions, type LogRange, logRangeOf, type PhaseChange, type PhaseLogBatch } from './phase-log.ts'
export type { LogPage } from './plain-call.ts'
export { createRenewingSocket } from './renewing-socket.ts'
