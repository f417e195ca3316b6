import type { ObjectKind } from '../../../core/vocabulary.ts'
import type { WorkloadDetails } from './details.ts'

/** Resources that a runtime keeps for a worker or job, from its start until their removal. */
export interface Resource {
  readonly kind: 'PROCESS' | 'SECRETS' | 'WORKSPACE'
  readonly removeAt: Date | null
  readonly removedAt: Date | null
}

export function resourcesOf(
  kind: ObjectKind,
  {
    startedAt,
    usesWorkspace,
    removeAt,
    removedAt,
  }: Pick<WorkloadDetails, 'startedAt' | 'usesWorkspace' | 'removeAt' | 'removedAt'>,
): readonly Resource[] {
  if (!startedAt) return []
  // The workspace belongs to the worker and is removed with it.
  const kinds: readonly Resource['kind'][] =
    kind === 'WORKER' && usesWorkspace ? ['PROCESS', 'SECRETS', 'WORKSPACE'] : ['PROCESS', 'SECRETS']
  return kinds.map((one) => ({ kind: one, removeAt, removedAt }))
}
