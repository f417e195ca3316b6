import type { ClaimedItem } from '../../../core/ports/agents.ts'
import { bindCommands, command } from '../../command.ts'
import { verbOf } from '../../creation.ts'
import { deleteCache } from '../artifacts/commands.ts'
import { drainPlace, registerPlace, undrainPlace } from '../placement/commands.ts'
import { claimPayloads } from '../store/claim-payload.ts'
import { createWorkerTokens } from '../store/worker-tokens.ts'
import { cancelEvent, cancelEvents, deleteEvent, deleteEvents } from './change-events.ts'
import { cloneEvent, createEvent, eventCreation, type ProjectEvent } from './create-event.ts'
import { cancelJob, createJob } from './jobs.ts'
import type { PipelinesParts } from './parts.ts'
import { retryEvent } from './retry-event.ts'

/** The pipelines family's mutations. */
export const pipelinesCommands = {
  createEvent: command(createEvent, []),
  cloneEvent: command(cloneEvent, ['NotFoundError']),
  retryEvent: command(retryEvent, ['NotFoundError', 'ConflictError']),
  cancelEvent: command(cancelEvent, ['NotFoundError', 'ConflictError', 'TransitionError']),
  cancelEvents: command(cancelEvents, []),
  deleteEvent: command(deleteEvent, ['NotFoundError', 'ConflictError']),
  deleteEvents: command(deleteEvents, []),
  registerPlace: command(registerPlace, ['LimitError']),
  drainPlace: command(drainPlace, ['NotFoundError']),
  undrainPlace: command(undrainPlace, ['NotFoundError']),
  deleteCache: command(deleteCache, ['NotFoundError']),
  createJob: command(createJob, ['NotFoundError', 'ConflictError', 'LimitError']),
  cancelJob: command(cancelJob, ['NotFoundError', 'TransitionError']),
}

declare module '../../creation.ts' {
  interface Verbs {
    readonly createEvent?: CreationVerb<ProjectEvent, 'InvalidInputError'>
  }
}

/** The mutations, how others create events, and the payloads of the family's claims. */
export type PipelinesCommands = ReturnType<typeof bindPipelines>

export function bindPipelines(parts: PipelinesParts) {
  const { pool, sealing, timeouts, system, sandbox } = parts
  const tokens = createWorkerTokens(pool, sealing)
  return {
    ...bindCommands(parts, pipelinesCommands),
    verbs: { createEvent: verbOf(parts, eventCreation) },
    timeouts,
    claimPayloads: (items: readonly ClaimedItem[]) =>
      claimPayloads({ client: pool, sealing, tokens, system, sandbox }, items),
  }
}
