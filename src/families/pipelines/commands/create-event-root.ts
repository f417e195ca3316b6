import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Node } from '../../../core/tree.ts'
import type { Strategy, WorkloadSpec } from '../../../projects/rules/spec.ts'
import { awaitAll } from '../../../store/await-all.ts'
import { boolean, json, nullable, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { LockedProject, LockedTree } from '../../family.ts'
import { GRANTED, REFUSED } from '../../limit-grant.ts'
import { announceGate, newStartGate } from '../../start-gate.ts'
import { SLOT, type WorkloadDetails } from '../rules/details.ts'
import type { NewEvent } from '../rules/normalise-event.ts'
import { freeSlots } from '../store/slots.ts'

/** The data that an event copies from its project. */
export interface Taken {
  readonly template: WorkloadSpec | null
  readonly strategy: Strategy
  /** From 1, within the project. */
  readonly number: number
  readonly hasSecrets: boolean
  readonly slots: NewSlots
}
/** Slots for the workers that a transaction creates; null: others wait for one. */
interface NewSlots {
  free: number | null
}

const TAKE_FROM_PROJECT = statement({
  name: 'take-from-project',
  text: `update project set event_count = event_count + 1 where id = $1
      returning worker_template as template, strategy, event_count as number,
        exists (select from secret where project_id = $1) as "hasSecrets"`,
  params: [uuid],
  row: {
    template: nullable(json<WorkloadSpec>()),
    strategy: table.project.strategy,
    number: table.project.eventCount,
    hasSecrets: boolean,
  },
})

/** Runs under the project's lock, so that two events never have the same number. */
export async function takeFromProject(project: LockedProject): Promise<Taken> {
  const { client, projectId } = project
  const [{ rows }, slots] = await awaitAll([TAKE_FROM_PROJECT.query(client, [projectId]), slotsOf(project)])
  return { ...(rows[0] as Omit<Taken, 'slots'>), slots }
}

/** Read once for all events of a transaction. */
const slotsByProject = new WeakMap<LockedProject, Promise<NewSlots>>()
function slotsOf(project: LockedProject): Promise<NewSlots> {
  const { client, projectId } = project
  const known = slotsByProject.get(project)
  const slots = known ?? freeSlots(client, 'WORKER', projectId).then((free) => ({ free }))
  if (!known) slotsByProject.set(project, slots)
  return slots
}

/**
 * Decides about the slot of a worker before it is written. If others wait, or it asks for limits, it is written first and waits among
 * them.
 */
function admit(tree: LockedTree, { row: { id } }: Node, slots: NewSlots): void {
  if (slots.free === null) return
  tree.answer(
    'slot',
    { id, pool: 'WORKER', limits: [], now: tree.slice.now.toISOString() },
    slots.free > 0 ? GRANTED : REFUSED,
  )
  slots.free = Math.max(0, slots.free - 1)
}

export const workloadDetails = (
  spec: WorkloadSpec,
  of: Pick<WorkloadDetails, 'projectId' | 'pool'> & Partial<WorkloadDetails>,
): Partial<WorkloadDetails> => ({
  ...of,
  state: of.gate ? SLOT.BACKOFF : SLOT.WAITING,
  runtime: spec.runtime,
  usesWorkspace: spec.workspace,
  timeoutMs: spec.timeoutMs,
  targetLabels: spec.targetLabels ?? null,
  retry: spec.retry ? { policy: spec.retry, attempts: [], nextAt: null } : null,
  limits: spec.limits ? { requests: spec.limits, isResolved: false } : null,
})

/** Creates the event and its worker with copies of the project's data, so that later changes do not affect them. */
export function createEventRoot(
  project: LockedProject,
  viewer: Viewer,
  { labels, ...details }: NewEvent,
  { spec, number, hasSecrets, slots }: Omit<Taken, 'template' | 'strategy'> & { readonly spec: WorkloadSpec },
): { readonly tree: LockedTree; readonly worker: Node } {
  const by = viewer
  const { projectId } = project
  const tree = project.createRoot({ kind: 'EVENT', name: `event-${number}`, spec: {}, labels, by, details })
  const { slice } = tree
  const gate = spec.gate ? newStartGate(spec.gate, slice.now, viewer.principalId) : null
  const worker = slice.create(tree.root, {
    kind: 'WORKER',
    name: 'worker',
    ordinal: 0,
    spec,
    by,
    details: workloadDetails(spec, { projectId, pool: 'WORKER', gate }),
  })
  if (gate) announceGate(worker, gate, slice)
  if (hasSecrets) slice.effect('copySecrets', null)
  // All workers of a transaction ask for the same: they are of one template, and a retry has a transaction of its own.
  if (!spec.limits?.length && !gate) admit(tree, worker, slots)
  return { tree, worker }
}
