import { describeJsonProblem, jsonProblem } from '../core/json-problem.ts'
import { storedLeafProblem } from '../core/portable.ts'

export type JsonText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string }

/** JSON text of a value within limits; `what` begins the message: `the schema is nested …`. */
export function jsonText(what: string, value: unknown, limits: { depth: number; size: number }): JsonText {
  const problem = jsonProblem(value, limits, storedLeafProblem)
  if (problem) return { ok: false, message: describeJsonProblem(what, problem) }
  const text = JSON.stringify(value ?? null)
  return text.length > limits.size
    ? { ok: false, message: `${what} is larger than ${limits.size} characters` }
    : { ok: true, text }
}
