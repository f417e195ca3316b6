/** Values that one answer may hold. */
const MAX_VALUES = 1_000_000
/** Deeper than any bound of the server, and far from the end of the stack. */
const MAX_DEPTH = 128

/**
 * A copy of a value of somebody else's code, as JSON.stringify would write it: each getter is read once, here, and the copy
 * has none. Its leaves may still be what JSON does not have.
 * @throws TypeError where JSON.stringify would silently write something else, such as `{}` for a Map; what a getter throws
 */
export function plainJson(name: string, value: unknown): unknown {
  return copy(value, name, { left: MAX_VALUES, depth: 0 })
}

interface Copying {
  left: number
  depth: number
}

function copy(given: unknown, place: string, copying: Copying): unknown {
  const value = hasToJSON(given) ? given.toJSON() : given
  copying.left -= 1
  if (typeof value !== 'object' || value === null) return value
  if (copying.left < 0) throw new TypeError(`${place} holds more than ${MAX_VALUES} values.`)
  if (copying.depth >= MAX_DEPTH)
    throw new TypeError(`${place.slice(0, 100)} is nested more than ${MAX_DEPTH} levels deep, or within itself.`)
  copying.depth += 1
  const copied = Array.isArray(value) ? copyList(value, place, copying) : copyObject(value, place, copying)
  copying.depth -= 1
  return copied
}

function copyList(list: readonly unknown[], place: string, copying: Copying): unknown {
  if (list.length > copying.left) throw new TypeError(`${place} holds more than ${MAX_VALUES} values.`)
  return Array.from(list, (item, i) => copy(item, `${place}.${i}`, copying))
}

function copyObject(object: object, place: string, copying: Copying): unknown {
  const type = Object.prototype.toString.call(object).slice('[object '.length, -1)
  if (type !== 'Object') throw new TypeError(`${place} is not JSON but of the type ${type}.`)
  // Without a prototype `__proto__` is a key like others.
  const copied: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(object))
    copied[key] = copy((object as Readonly<Record<string, unknown>>)[key], `${place}.${key}`, copying)
  return copied
}

const hasToJSON = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
