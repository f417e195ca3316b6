/** What is wrong with a value as JSON of bounded depth and size, or null. Never throws; uses no call stack. */
export function jsonProblem(value: unknown, limits: { depth: number; size: number }): string | null {
  const stack: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  let size = 0
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { value: here, depth } = top
    size += typeof here === 'string' ? here.length + 2 : 1
    if (size > limits.size) return `larger than ${limits.size} characters`
    if (typeof here === 'object' && here !== null) {
      if (depth >= limits.depth) return `nested more than ${limits.depth} levels deep`
      // Arrays by index: entries of a million items would be a million small arrays before the first is counted.
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

/** As JSON.stringify sees it: an absent property is written as undefined. */
function isLeaf(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean'
}

export type JsonText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string }

/** JSON text of a value within limits; `what` begins the message: `the schema is nested …`. */
export function jsonText(what: string, value: unknown, limits: { depth: number; size: number }): JsonText {
  const problem = jsonProblem(value, limits)
  if (problem) return { ok: false, message: `${what} is ${problem}` }
  const text = JSON.stringify(value ?? null)
  return text.length > limits.size
    ? { ok: false, message: `${what} is larger than ${limits.size} characters` }
    : { ok: true, text }
}
