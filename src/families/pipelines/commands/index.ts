import type { ClaimedItem } from '../../../core/ports/agents.ts'
import { bindCommands, command } from '../../command.ts'
import { claimPayloads } from '../store/claim-payload.ts'
import { createWorkerTokens } from '../store/worker-tokens.ts'
import { cancelEvent, cancelEvents, deleteEvent, deleteEvents } from './change-events.ts'
import { cloneEvent, createEvent } from './create-event.ts'
import { createProject } from './create-project.ts'
import { deleteProject } from './delete-project.ts'
import { cancelJob, createJob } from './jobs.ts'
import type { PipelinesParts } from './parts.ts'
import { drainPlace, registerPlace, undrainPlace } from './places.ts'
import { resealSecrets } from './reseal.ts'
import { retryEvent } from './retry-event.ts'
import { deleteSecret, setSecret } from './secrets.ts'
import { updateProject } from './update-project.ts'

/** The pipelines family's mutations. */
export const pipelinesCommands = {
  createProject: command(createProject, ['InvalidInputError', 'ConflictError']),
  updateProject: command(updateProject, ['InvalidInputError', 'NotFoundError', 'ConflictError']),
  deleteProject: command(deleteProject, ['InvalidInputError', 'NotFoundError', 'ConflictError']),
  setSecret: command(setSecret, ['InvalidInputError', 'NotFoundError', 'LimitError']),
  deleteSecret: command(deleteSecret, ['NotFoundError']),
  resealSecrets: command(resealSecrets, []),
  createEvent: command(createEvent, ['InvalidInputError']),
  cloneEvent: command(cloneEvent, ['InvalidInputError', 'NotFoundError']),
  retryEvent: command(retryEvent, ['InvalidInputError', 'NotFoundError', 'ConflictError']),
  cancelEvent: command(cancelEvent, ['InvalidInputError', 'NotFoundError', 'TransitionError']),
  cancelEvents: command(cancelEvents, ['InvalidInputError']),
  deleteEvent: command(deleteEvent, ['NotFoundError']),
  deleteEvents: command(deleteEvents, ['InvalidInputError']),
  registerPlace: command(registerPlace, ['InvalidInputError', 'LimitError']),
  drainPlace: command(drainPlace, ['NotFoundError']),
  undrainPlace: command(undrainPlace, ['NotFoundError']),
  createJob: command(createJob, ['InvalidInputError', 'NotFoundError', 'ConflictError', 'LimitError']),
  cancelJob: command(cancelJob, ['InvalidInputError', 'NotFoundError', 'TransitionError']),
}

/** The mutations, and the payloads of the family's claims. */
export type PipelinesCommands = ReturnType<typeof bindPipelines>

export function bindPipelines(parts: PipelinesParts) {
  const { pool, sealing, timeouts } = parts
  const tokens = createWorkerTokens(pool, sealing)
  return {
    ...bindCommands(parts, pipelinesCommands),
    timeouts,
    claimPayloads: (items: readonly ClaimedItem[]) => claimPayloads({ client: pool, sealing, tokens }, items),
  }
}
