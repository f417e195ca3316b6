import type { RefusalOf } from '../../core/errors.ts'
import type { Refused } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { hasRight, RIGHTS, type Right, requireRight } from '../../core/rights.ts'
import type { ObjectRow } from '../../core/tree.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Kinds } from '../families.ts'

export function requireAgent(viewer: Viewer, right: Right): Refused<RefusalOf<'ForbiddenError'>> | null {
  const refusal = requireRight(viewer, right)
  return refusal && { ok: false, refusal }
}

/** The targets that a token allows, narrowed to the requested ones; null: all. */
export function within(
  allowed: readonly string[] | null,
  requested: readonly string[] | null,
): readonly string[] | null {
  if (allowed === null || requested === null) return requested ?? allowed
  return requested.filter((target) => allowed.includes(target))
}

/** An actor drives a kind if one of its machines has a transition for the actor. */
export const canDrive = (viewer: Viewer, kind: ObjectKind, kinds: Kinds): boolean =>
  kinds.isDrivenBy(kind, viewer.actor)

/** True if the agent may claim work on the object, by its project and kind. */
export const canClaim = (
  viewer: Viewer,
  { kind, projectId }: Pick<ObjectRow, 'kind' | 'projectId'>,
  kinds: Kinds,
): boolean => canDrive(viewer, kind, kinds) && hasRight(viewer, RIGHTS.claimWork, projectId)
