import { forbidden, type RefusalOf } from '../../core/errors.ts'
import type { Refused } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Kinds } from '../families.ts'

export function requireAgent(viewer: Viewer): Refused<RefusalOf<'ForbiddenError'>> | null {
  if (viewer.role === 'AGENT') return null
  return { ok: false, refusal: forbidden('Only an agent may do this: use a token with the role AGENT.') }
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
