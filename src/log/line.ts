import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { cursorAt, encodeCursor } from './cursor.ts'

/**
 * A change for readers without GraphQL, with the fields of `PhaseChange`. Seals have the hash of these lines: a field more, or another order,
 * makes the seals of earlier releases unverifiable unless their form is verified besides (`seal/seal.ts`).
 */
export function lineOf(change: PhaseChangeRecord): object {
  const { sequence, objectId, kind, name, rootId, projectName, machine, from, to, actor, by, byId } = change
  const { reason, message, jobId, revision, rejected, at } = change
  return {
    ...{ id: phaseChangeId(change), sequence, cursor: encodeCursor(cursorAt(change)), objectId, kind, name },
    ...{ path: pathOf(change), rootId, projectName, machine, from, to, actor, by, byId, reason, message, jobId },
    ...{ revision: revision ?? 0, rejected, requested: isRequested(change), at },
  }
}

export const phaseChangeId = ({ batchId, idx }: Pick<PhaseChangeRecord, 'batchId' | 'idx'>): string =>
  `${batchId}:${idx}`

export const isRequested = ({ revision, rejected }: PhaseChangeRecord): boolean => revision === null && !rejected

export function pathOf({ parentId, parentPath, name }: PhaseChangeRecord): string {
  if (parentPath === null) return parentId === null ? name : `…/${name}`
  return parentPath === '' ? name : `${parentPath}/${name}`
}
