/** The differences of two JSON values, by path. */

export interface JsonDifference {
  /** Names of members; an entry of a list goes by its name if all entries have one of their own, otherwise by its place. */
  readonly path: readonly string[]
  readonly change: 'ADDED' | 'REMOVED' | 'CHANGED'
  /** Undefined if it was added. */
  readonly before: unknown
  /** Undefined if it was removed. */
  readonly after: unknown
}

export interface JsonDiff {
  readonly differences: readonly JsonDifference[]
  /** There are more than these. */
  readonly truncated: boolean
}

/** In the order of the members; at most `max`, and then it stops. Undefined stands for no value. */
export function diffJson(before: unknown, after: unknown, max: number): JsonDiff {
  const differences: JsonDifference[] = []
  /** False: there is no room for more. */
  const compare = (path: readonly string[], a: unknown, b: unknown): boolean => {
    if (Object.is(a, b)) return true
    const [left, right] = [membersOf(a), membersOf(b)]
    if (left === null || right === null || left.isList !== right.isList) {
      if (differences.length === max) return false
      const change = a === undefined ? 'ADDED' : b === undefined ? 'REMOVED' : 'CHANGED'
      differences.push({ path, change, before: a, after: b })
      return true
    }
    // By place where only one of the two has names.
    const named = left.isNamed && right.isNamed
    const [one, other] = named ? [left.members, right.members] : [entriesOf(a), entriesOf(b)]
    for (const key of new Set([...one.keys(), ...other.keys()])) {
      if (!compare([...path, key], one.get(key), other.get(key))) return false
    }
    return true
  }
  const truncated = !compare([], before, after)
  return { differences, truncated }
}

interface Members {
  readonly isList: boolean
  readonly isNamed: boolean
  readonly members: ReadonlyMap<string, unknown>
}

/** Null for a value without members. */
function membersOf(value: unknown): Members | null {
  if (typeof value !== 'object' || value === null) return null
  if (!Array.isArray(value)) return { isList: false, isNamed: true, members: entriesOf(value) }
  const names = value.map((entry: unknown) => nameOf(entry))
  const isNamed = names.every((name) => name !== null) && new Set(names).size === names.length
  if (!isNamed) return { isList: true, isNamed, members: entriesOf(value) }
  return { isList: true, isNamed, members: new Map(value.map((entry: unknown, i) => [names[i] ?? '', entry])) }
}

const entriesOf = (value: unknown): ReadonlyMap<string, unknown> => new Map(Object.entries(value as object))

const nameOf = (entry: unknown): string | null =>
  typeof entry === 'object' && entry !== null && 'name' in entry && typeof entry.name === 'string' ? entry.name : null
