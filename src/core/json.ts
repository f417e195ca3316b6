/** Deep equality of JSON values; the order of keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return (a ?? null) === (b ?? null)
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((x, i) => sameJson(x, b[i]))
  }
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  const keys = Object.keys(left).filter((key) => left[key] !== undefined)
  if (keys.length !== Object.keys(right).filter((key) => right[key] !== undefined).length) return false
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
}

/** Numbers, booleans and null have one to some twenty characters. */
const ATOM = 6

/** About how many characters the JSON text of a value has; counts no further than `enough`. */
export function jsonLength(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return ATOM
  let length = 2
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && length <= enough; i++) length += jsonLength(value[i], enough - length) + 1
    return length
  }
  const object = value as Readonly<Record<string, unknown>>
  for (const key in object) {
    if (length > enough) return length
    length += key.length + 4 + jsonLength(object[key], enough - length)
  }
  return length
}
