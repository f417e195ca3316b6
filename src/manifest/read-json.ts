import { describeJsonProblem, jsonProblem, UNBOUNDED } from '../core/json-problem.ts'

export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  /** A sentence without its full stop, about what has the name. */
  | { readonly ok: false; readonly message: string }

/**
 * Reads JSON that a person wrote. It rejects a number that JavaScript cannot hold, since another one, or null, would be
 * sent.
 */
export function readJson(name: string, text: string): ReadJson {
  try {
    const value: unknown = JSON.parse(text)
    const problem = jsonProblem(value, UNBOUNDED)
    return problem ? { ok: false, message: describeJsonProblem(name, problem) } : { ok: true, value }
  } catch (error) {
    return {
      ok: false,
      message: `${name} is not JSON (${error instanceof Error ? error.message : 'it cannot be read'})`,
    }
  }
}
