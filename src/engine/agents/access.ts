import type { RefusalOf } from '../../core/errors.ts'
import type { ClaimedTargets } from '../../core/ports/agents.ts'
import type { Refused } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { hasRight, RIGHTS, type Right, requireRight } from '../../core/rights.ts'
import type { ServedTargets } from '../../core/target.ts'
import type { ObjectRow } from '../../core/tree.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Kinds } from '../families.ts'

export function requireAgent(viewer: Viewer, right: Right): Refused<RefusalOf<'ForbiddenError'>> | null {
  const refusal = requireRight(viewer, right)
  return refusal && { ok: false, refusal }
}

/** The targets that a token allows, narrowed to the requested ones; null: all. */
function within(allowed: readonly string[] | null, requested: readonly string[] | null): readonly string[] | null {
  if (allowed === null || requested === null) return requested ?? allowed
  return requested.filter((target) => allowed.includes(target))
}

/**
 * The targets of a claim. With a selector, targets that are left out are none, since nothing else is to be taken by chance;
 * the selector selects among those that the token allows.
 */
export function targetsOf(
  { targets: allowed }: Pick<Viewer, 'targets'>,
  { targets, targetSelector }: ClaimedTargets,
): { readonly targets: readonly string[] | null; readonly targetSelector: ServedTargets | null } {
  if (!targetSelector) return { targets: within(allowed, targets), targetSelector: null }
  return { targets: targets && within(allowed, targets), targetSelector: { ...targetSelector, within: allowed } }
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
