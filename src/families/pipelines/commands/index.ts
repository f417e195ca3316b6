import type { ClaimedItem } from '../../../core/ports/agents.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
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

/** The pipelines family's mutations, and the payloads of its claims. */
export type PipelinesCommands = ReturnType<typeof pipelinesCommands>

export function pipelinesCommands(parts: PipelinesParts) {
  const { pool, sealing } = parts
  const tokens = createWorkerTokens(pool, sealing)
  const bound =
    <I, O>(command: (parts: PipelinesParts, viewer: Viewer, input: I) => O) =>
    (viewer: Viewer, input: I): O =>
      command(parts, viewer, input)
  return {
    createProject: bound(createProject),
    updateProject: bound(updateProject),
    deleteProject: bound(deleteProject),
    setSecret: bound(setSecret),
    deleteSecret: bound(deleteSecret),
    resealSecrets: (viewer: Viewer) => resealSecrets(parts, viewer),
    createEvent: bound(createEvent),
    cloneEvent: bound(cloneEvent),
    retryEvent: bound(retryEvent),
    cancelEvent: bound(cancelEvent),
    cancelEvents: bound(cancelEvents),
    deleteEvent: bound(deleteEvent),
    deleteEvents: bound(deleteEvents),
    registerPlace: bound(registerPlace),
    drainPlace: bound(drainPlace),
    undrainPlace: bound(undrainPlace),
    createJob: bound(createJob),
    cancelJob: bound(cancelJob),
    timeouts: parts.timeouts,
    claimPayloads: (items: readonly ClaimedItem[]) => claimPayloads({ client: pool, sealing, tokens }, items),
  }
}
