import type { Evaluated } from '../core/tree.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { Evaluation } from './slice/slice-reader.ts'

export type Evaluate = (
  evaluations: readonly Evaluation[],
  /** Project of the tree, whose hostile expressions delay no other project. */
  projectId: string,
) => Promise<ReadonlyMap<string, Evaluated>>

/** Evaluates expressions and schemas in the sandbox, with one message for each of the two. */
export function evaluateIn(sandbox: Sandbox): Evaluate {
  return async (evaluations, projectId) => {
    const results = new Map<string, Evaluated>()
    const resolve = evaluations.flatMap(({ key, job }) => (job.type === 'resolve' ? [{ key, job }] : []))
    const validate = evaluations.flatMap(({ key, job }) => (job.type === 'validate' ? [{ key, job }] : []))
    const [resolved, validated] = await Promise.all([
      resolve.length > 0
        ? sandbox.resolve(
            resolve.map(({ job: { template, scope } }) => ({ template, scope })),
            projectId,
          )
        : [],
      validate.length > 0
        ? sandbox.validate(
            validate.map(({ job: { schema, value } }) => ({ schema, value })),
            projectId,
          )
        : [],
    ])
    resolve.forEach(({ key }, i) => {
      results.set(key, resolved[i] ?? LOST)
    })
    validate.forEach(({ key }, i) => {
      const verdict = validated[i] ?? LOST
      results.set(key, verdict.ok ? { ok: true, value: null } : verdict)
    })
    return results
  }
}
const LOST: Evaluated = { ok: false, message: 'It could not be evaluated.' }
