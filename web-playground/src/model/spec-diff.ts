/** Compares two specs, for people. */

export interface Difference {
  /** e.g. `deployItems.db.config.image`; entries of lists by their names where they have some. */
  readonly path: string
  /** Undefined: it was not there. */
  readonly from: unknown
  /** Undefined: it goes. */
  readonly to: unknown
}

export function differences(from: unknown, to: unknown, path = ''): readonly Difference[] {
  const [before, after] = [partsOf(from), partsOf(to)]
  if (!before || !after || Array.isArray(from) !== Array.isArray(to))
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path, from, to }]
  const keys = [...new Set([...before.keys(), ...after.keys()])]
  return keys.flatMap((key) => {
    const inside = path === '' ? key : `${path}.${key}`
    if (!before.has(key)) return [{ path: inside, from: undefined, to: after.get(key) }]
    if (!after.has(key)) return [{ path: inside, from: before.get(key), to: undefined }]
    return differences(before.get(key), after.get(key), inside)
  })
}

/** Null: it has no parts. */
function partsOf(value: unknown): ReadonlyMap<string, unknown> | null {
  if (typeof value !== 'object' || value === null) return null
  if (!Array.isArray(value)) return new Map(Object.entries(value))
  const names = value.map(nameOf)
  const areNamed = names.every((name) => name !== null) && new Set(names).size === names.length
  return new Map(value.map((entry, i) => [(areNamed && names[i]) || String(i), entry]))
}

const nameOf = (entry: unknown): string | null =>
  typeof entry === 'object' && entry !== null && 'name' in entry && typeof entry.name === 'string' ? entry.name : null

const MOST = 60
const shown = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text
}

interface Words {
  readonly added: string
  readonly removed: string
}
const BEFORE_A_ROLLBACK: Words = { added: 'comes back', removed: 'goes' }
export const AFTERWARDS: Words = { added: 'new', removed: 'gone' }

/** e.g. `deployItems.db.config.image: "a" → "b"`. */
export function describeDifference({ path, from, to }: Difference, words = BEFORE_A_ROLLBACK): string {
  if (from === undefined) return `${path}: ${words.added}, ${shown(to)}`
  if (to === undefined) return `${path}: ${words.removed}`
  return `${path}: ${shown(from)} → ${shown(to)}`
}
