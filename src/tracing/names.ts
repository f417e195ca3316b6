/** The names of spans and of their attributes: ours begin with `phaseline.`, all others are OpenTelemetry's conventions. */

export const SPAN = {
  transaction: 'transaction',
  claim: 'claim',
  dispatch: 'dispatch',
  report: 'report',
  sandbox: 'sandbox',
  work: 'work',
  gadget: 'gadget',
  number: 'number',
  deliver: 'deliver',
} as const

export const ATTRIBUTE = {
  operationType: 'graphql.operation.type',
  operationName: 'graphql.operation.name',
  /** `ok`, or the code of the first error. */
  outcome: 'phaseline.outcome',
  requestId: 'phaseline.request.id',
  rootId: 'phaseline.root.id',
  objectId: 'phaseline.object.id',
  kind: 'phaseline.object.kind',
  name: 'phaseline.object.name',
  workType: 'phaseline.work.type',
  action: 'phaseline.work.action',
  target: 'phaseline.work.target',
  attempt: 'phaseline.work.attempt',
  instance: 'phaseline.agent.instance',
  phase: 'phaseline.phase',
  laneWaitMs: 'phaseline.transaction.lane_wait_ms',
  connectionWaitMs: 'phaseline.transaction.connection_wait_ms',
  lockWaitMs: 'phaseline.transaction.lock_wait_ms',
  statements: 'phaseline.transaction.statements',
  tasks: 'phaseline.transaction.tasks',
  jobs: 'phaseline.sandbox.jobs',
  job: 'phaseline.sandbox.job',
  gadget: 'phaseline.gadget.name',
  gadgetMode: 'phaseline.gadget.mode',
  /** The first one. */
  sequence: 'phaseline.log.sequence',
  changes: 'phaseline.log.changes',
  subscriptions: 'phaseline.log.subscriptions',
} as const

/** Characters of an attribute's value; the rest is cut off. */
export const MAX_VALUE = 256
export const bounded = (text: string): string => (text.length > MAX_VALUE ? text.slice(0, MAX_VALUE) : text)
