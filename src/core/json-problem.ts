import { leafProblem } from './portable.ts'

export interface JsonProblem {
  /** Keys and indexes, from the value down; empty for the value itself. */
  readonly path: readonly string[]
  /** The rest of a sentence about what is there, e.g. `is nested more than 64 levels deep`. */
  readonly message: string
}

/** For those who only want to know what cannot be stored: the server has bounds. */
export const UNBOUNDED = { depth: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY } as const

interface Place {
  readonly value: unknown
  readonly depth: number
  readonly key: string | number
  readonly above: Place | null
}

/**
 * Checks that a value is JSON of bounded depth and size, and that each leaf and key can be stored as it is; null when all
 * of that holds. The size is that of its text without separators and escapes. Never throws for what JSON.parse returns, and
 * is not recursive.
 */
export function jsonProblem(
  value: unknown,
  limits: Limits,
  problemOf: (leaf: unknown) => string | null = leafProblem,
): JsonProblem | null {
  return problemsOf(value, { limits, problemOf, most: 1 })[0] ?? null
}

/** Nobody reads more of them. */
const MOST_PROBLEMS = 100

/** All problems, in the order of the value, for a person who wrote it. */
export const jsonProblems = (value: unknown, limits: Limits): readonly JsonProblem[] =>
  problemsOf(value, { limits, problemOf: leafProblem, most: MOST_PROBLEMS })

interface Limits {
  readonly depth: number
  readonly size: number
}
interface Judge {
  readonly limits: Limits
  readonly problemOf: (leaf: unknown) => string | null
  readonly most: number
}

function problemsOf(value: unknown, { limits, problemOf, most }: Judge): readonly JsonProblem[] {
  const found: JsonProblem[] = []
  const stack: Place[] = [{ value, depth: 0, key: '', above: null }]
  let size = 0
  for (let place = stack.pop(); place && found.length < most; place = stack.pop()) {
    const { value: here, depth } = place
    size += sizeOf(here)
    if (size > limits.size) return [...found, tooLarge(limits.size)]
    if (typeof here === 'object' && here !== null) {
      if (depth >= limits.depth)
        return [...found, { path: [], message: `is nested more than ${limits.depth} levels deep` }]
      // By index, the last one first: `entries` of a million items would allocate a million small arrays before the first is counted.
      if (Array.isArray(here)) {
        if (size + here.length > limits.size) return [...found, tooLarge(limits.size)]
        for (let key = here.length - 1; key >= 0; key--)
          stack.push({ value: here[key], depth: depth + 1, key, above: place })
        continue
      }
      const type = typeOf(here)
      if (type !== null) {
        found.push(problemAt(place, `is not JSON but of the type ${type}`))
        continue
      }
      const entries = Object.entries(here)
      for (const [key] of entries) {
        size += key.length + 3
        const problem = problemOf(key)
        if (problem) found.push(problemAt(place, `has a key that ${problem}`))
      }
      for (const [key, item] of entries.reverse()) stack.push({ value: item, depth: depth + 1, key, above: place })
    } else {
      const problem = problemOf(here)
      if (problem) found.push(problemAt(place, problem))
    }
  }
  return found
}

/** The problem as a sentence whose subject begins with the name of the value: `exports.a.b is …`. */
export const describeJsonProblem = (name: string, { path, message }: JsonProblem): string =>
  `${[name, ...path].join('.')} ${message}`

const tooLarge = (size: number): JsonProblem => ({ path: [], message: `is larger than ${size} characters` })

/** Names an object that JSON lacks, as YAML tags and code make them; null: a plain map. */
function typeOf(object: object): string | null {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype === Object.prototype || prototype === null) return null
  return Object.prototype.toString.call(object).slice('[object '.length, -1)
}

/** Characters of a key in a message, which names up to 64 of them. */
const MAX_KEY = 64

function problemAt(place: Place, message: string): JsonProblem {
  const path: string[] = []
  for (let at = place; at.above; at = at.above) path.unshift(String(at.key).slice(0, MAX_KEY))
  return { path, message }
}

/** The size of a leaf, or of a container's brackets. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value === 'number') return String(value).length
  return 2
}
