/**
 * Checks that a value is JSON of bounded depth and size; null when it is. The size is that of its text without separators and
 * escapes. Never throws, and is not recursive.
 */
export function jsonProblem(value: unknown, limits: { depth: number; size: number }): string | null {
  const stack: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  let size = 0
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { value: here, depth } = top
    size += sizeOf(here)
    if (size > limits.size) return `larger than ${limits.size} characters`
    if (typeof here === 'object' && here !== null) {
      if (depth >= limits.depth) return `nested more than ${limits.depth} levels deep`
      // By index: `entries` of a million items would allocate a million small arrays before the first is counted.
      if (Array.isArray(here)) {
        if (size + here.length > limits.size) return `larger than ${limits.size} characters`
        for (const item of here) stack.push({ value: item, depth: depth + 1 })
      } else {
        for (const [key, item] of Object.entries(here)) {
          size += key.length + 3
          stack.push({ value: item, depth: depth + 1 })
        }
      }
    } else if (!isLeaf(here)) return 'not JSON'
  }
  return null
}

/** Of a leaf, or of the brackets. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value === 'number') return String(value).length
  return 2
}

/** Like JSON.stringify, which omits undefined properties. */
function isLeaf(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean'
}
