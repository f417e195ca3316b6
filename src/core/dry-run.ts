/** The result of a dry run of a deploy item: the objects at its target that would change. */

export const PLANNED_ACTIONS = ['CREATE', 'UPDATE', 'RECREATE', 'DELETE', 'UNCHANGED'] as const
export type PlannedAction = (typeof PLANNED_ACTIONS)[number]

export interface PlannedField {
  /** E.g. `spec.template.spec.containers.0.image`. */
  readonly path: string
  /** Absent: it is not there. */
  readonly before?: unknown
  readonly after?: unknown
  /** It is secret: the values are `MASKED`. */
  readonly masked?: boolean
}

/** One object at a target. */
export interface PlannedChange {
  /** Its API group, or what its target has for that; empty: none. */
  readonly group?: string
  readonly kind: string
  readonly namespace?: string | null
  readonly name: string
  readonly action: PlannedAction
  /** Why, or what the target cannot say yet. */
  readonly reason?: string | null
  readonly fields?: readonly PlannedField[] | null
  /** Unified, without file headers. */
  readonly diff?: string | null
}

/** Characters of JSON that the changes of a deploy item have at most. */
export const MAX_CHANGES_SIZE = 256 * 1_024

/** Stands for a secret value. It carries no digest, by which a short one could be guessed. */
export const MASKED = '***'

export interface Bounded {
  readonly changes: readonly PlannedChange[]
  /** Diffs, fields or objects are left out. */
  readonly truncated: boolean
}

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0

/** Leaves out what exceeds so many characters of JSON: diffs first, then fields, then objects. */
export function fitChanges(changes: readonly PlannedChange[], budget: number): Bounded {
  let left = budget
  let truncated = false
  const take = <T>(value: T): { readonly value?: T } => {
    const size = sizeOf(value)
    if (size <= left) {
      left -= size
      return { value }
    }
    truncated = true
    return {}
  }
  const objects = changes.flatMap(({ fields: _fields, diff: _diff, ...object }, i) => take({ object, i }).value ?? [])
  const fields = objects.map(({ i }) => take(changes[i]?.fields ?? []).value ?? [])
  const diffs = objects.map(({ i }) => take(changes[i]?.diff ?? null).value ?? null)
  return {
    changes: objects.map(({ object }, i) => ({ ...object, fields: fields[i] ?? [], diff: diffs[i] ?? null })),
    truncated,
  }
}
