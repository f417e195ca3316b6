import type { Viewer } from '../../../core/ports/viewer.ts'
import type { Node } from '../../../core/tree.ts'
import type { Strategy, WorkloadSpec } from '../../../projects/rules/spec.ts'
import { json, nullable, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { LockedProject, LockedTree } from '../../family.ts'
import { SLOT, type WorkloadDetails } from '../rules/details.ts'
import type { NewEvent } from '../rules/normalise-event.ts'

/** The data that an event copies from its project. */
export interface Taken {
  readonly template: WorkloadSpec | null
  readonly strategy: Strategy
  /** From 1, within the project. */
  readonly number: number
}

const TAKE_FROM_PROJECT = statement({
  name: 'take-from-project',
  text: `update project set event_count = event_count + 1 where id = $1
      returning worker_template as template, strategy, event_count as number`,
  params: [uuid],
  row: { template: nullable(json<WorkloadSpec>()), strategy: table.project.strategy, number: table.project.eventCount },
})

/** Runs under the project's lock, so that two events never have the same number. */
export async function takeFromProject({ client, projectId }: LockedProject): Promise<Taken> {
  const { rows } = await TAKE_FROM_PROJECT.query(client, [projectId])
  return rows[0] as Taken
}

export const workloadDetails = (
  spec: WorkloadSpec,
  of: Pick<WorkloadDetails, 'projectId' | 'pool'> & Partial<WorkloadDetails>,
): Partial<WorkloadDetails> => ({
  ...of,
  state: SLOT.WAITING,
  runtime: spec.runtime,
  usesWorkspace: spec.workspace,
  timeoutMs: spec.timeoutMs,
  targetLabels: spec.targetLabels ?? null,
  retry: spec.retry ? { policy: spec.retry, attempts: [], nextAt: null } : null,
})

/** Creates the event and its worker with copies of the project's data, so that later changes do not affect them. */
export function createEventRoot(
  project: LockedProject,
  viewer: Viewer,
  { labels, ...details }: NewEvent,
  { spec, number }: { readonly spec: WorkloadSpec; readonly number: number },
): { readonly tree: LockedTree; readonly worker: Node } {
  const by = viewer
  const tree = project.createRoot({ kind: 'EVENT', name: `event-${number}`, spec: {}, labels, by, details })
  const worker = tree.slice.create(tree.root, {
    kind: 'WORKER',
    name: 'worker',
    ordinal: 0,
    spec,
    by,
    details: workloadDetails(spec, { projectId: project.projectId, pool: 'WORKER' }),
  })
  tree.slice.effect('copySecrets', null)
  return { tree, worker }
}
