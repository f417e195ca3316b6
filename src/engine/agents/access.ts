import { forbidden, invalidInput, type RefusalOf } from '../../core/errors.ts'
import type { Refused } from '../../core/ports/outcome.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import type { Kinds } from '../families.ts'

/** At most so many reports, and so many claims, in one call. */
export const MAX_BATCH = 500

export const tooMany = (path: string, most: number) =>
  ({ ok: false, refusal: invalidInput([{ path, message: `must not be more than ${most}` }]) }) as const

export function requireAgent(viewer: Viewer): Refused<RefusalOf<'ForbiddenError'>> | null {
  if (viewer.role === 'AGENT') return null
  return { ok: false, refusal: forbidden('Only an agent may do this: use a token made for one (role AGENT).') }
}

/** What the token allows, narrowed to what is asked for; null: everything. */
export function within(allowed: readonly string[] | null, asked: readonly string[] | null): readonly string[] | null {
  if (allowed === null || asked === null) return asked ?? allowed
  return asked.filter((target) => allowed.includes(target))
}

/** A machine that has no row for an actor is none of its business. */
export const canDrive = (viewer: Viewer, kind: ObjectKind, kinds: Kinds): boolean =>
  kinds.isDrivenBy(kind, viewer.actor)
