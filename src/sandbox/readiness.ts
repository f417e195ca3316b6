import { type KubernetesSettings, RULE_EXPRESSIONS } from '../core/deployers/kubernetes-manifest.ts'
import type { FieldProblem } from '../core/errors.ts'
import { hasExpressions } from '../core/expression.ts'
import type { Sandbox } from './sandbox.ts'

/** A config with its path. */
interface PlacedSettings {
  readonly value: KubernetesSettings
  readonly at: string
}

/** The problems of readiness rules, but for those with expressions `${…}`, which are resolved first. One call for all configs. */
export async function ruleProblems(
  sandbox: Pick<Sandbox, 'analyze'>,
  configs: readonly PlacedSettings[],
): Promise<readonly FieldProblem[]> {
  const given = configs.flatMap(sourcesOf)
  if (given.length === 0) return []
  const read = await sandbox.analyze(
    given.map(({ source }) => source),
    'object',
  )
  return given.flatMap(({ path }, i) => {
    const one = read[i]
    return one && !one.ok ? [{ path, message: one.message }] : []
  })
}

function sourcesOf({ value: { readiness }, at }: PlacedSettings) {
  // The list may be an expression as a whole.
  const rules = Array.isArray(readiness) ? (readiness as NonNullable<KubernetesSettings['readiness']>) : []
  return rules.flatMap((rule, i) =>
    RULE_EXPRESSIONS.flatMap((name) => {
      const source = rule[name]
      return source === undefined || hasExpressions(source) ? [] : [{ path: `${at}.readiness.${i}.${name}`, source }]
    }),
  )
}
