import { describeJsonProblem, jsonProblem } from '../core/json-problem.ts'
import { storedLeafProblem } from '../core/portable.ts'

export type JsonText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string }

/** JSON text of a value within limits; `what` begins the message: `the schema is nested …`. Escapes and separators do not count. */
export function jsonText(what: string, value: unknown, limits: { depth: number; size: number }): JsonText {
  const problem = jsonProblem(value, limits, storedLeafProblem)
  if (problem) return { ok: false, message: describeJsonProblem(what, problem) }
  return { ok: true, text: JSON.stringify(value ?? null) }
}
