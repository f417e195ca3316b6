import { CONTAINER } from '../../../core/deployers/container.ts'
import { GATE, type GateConfig } from '../../../core/deployers/gate.ts'
import { HELM } from '../../../core/deployers/helm.ts'
import {
  KUBERNETES_MANIFEST,
  type KubernetesManifestConfig,
  type KubernetesSettings,
} from '../../../core/deployers/kubernetes-manifest.ts'
import { hasExpressions } from '../../../core/expression.ts'
import type { Problems } from '../../../core/problems.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import { ruleProblems } from '../../../sandbox/readiness.ts'
import { gateProblem } from '../../gate.ts'
import { checkExpressions } from '../../template-expressions.ts'
import type { InstallationSpec } from '../rules/spec.ts'

/** The types of items of built-in deployers, and of gates. */
const BUILT_IN: readonly string[] = [CONTAINER, GATE, HELM, KUBERNETES_MANIFEST]

/** Longer texts are left to the deployer: to read so many characters takes as long as a job of the sandbox may. */
const READ_CHARACTERS = 64 * 1_024

interface Inspecting {
  readonly sandbox: Pick<Sandbox, 'analyze' | 'inspect'>
  readonly owner: string
  readonly problems: Problems
  readonly now: Date
}
/** A part of a spec with its path. */
interface Placed {
  readonly value: unknown
  readonly at: string
}
interface PlacedConfig extends Placed {
  readonly itemType: string
}

/** Refuses configs that a built-in deployer could only refuse. */
export async function checkConfigs(inspecting: Inspecting, spec: InstallationSpec, path: string): Promise<void> {
  const { sandbox, owner, problems, now } = inspecting
  const configs = configsIn(spec, path)
  if (configs.length === 0) return
  const inspected = await sandbox.inspect(
    configs.map(({ itemType, value }) => ({ type: 'config', itemType, value })),
    owner,
  )
  const sound = configs.filter(({ at }, i) => {
    const verdict = inspected[i]
    if (verdict?.ok === false) problems.add(at, `cannot be judged: ${verdict.message}`)
    else for (const problem of verdict?.problems ?? []) problems.add(`${at}${problem.path}`, problem.message)
    return verdict?.ok && verdict.problems.length === 0
  })
  for (const { itemType, value, at } of sound) {
    const problem = itemType === GATE ? gateProblem(value, now) : null
    if (problem) problems.add([at, problem.path].filter(Boolean).join('.'), problem.message)
  }
  const conditions = sound.flatMap(({ itemType, value, at }) => {
    const until = itemType === GATE ? (value as Partial<GateConfig>)?.http?.until : undefined
    return until === undefined || hasExpressions(until) ? [] : [{ source: until, path: `${at}.http.until` }]
  })
  await checkExpressions(sandbox, conditions, 'answer', problems)
  const ruled = sound.flatMap(({ itemType, value, at }) =>
    itemType === KUBERNETES_MANIFEST || itemType === HELM ? [{ value: value as KubernetesSettings, at }] : [],
  )
  for (const { path: where, message } of await ruleProblems(sandbox, ruled)) problems.add(where, message)
  await checkManifests(inspecting, sound.flatMap(manifestsOf))
}

const configsIn = (spec: InstallationSpec, path: string): readonly PlacedConfig[] => [
  ...spec.deployItems.flatMap(({ type, config }, i) =>
    BUILT_IN.includes(type) ? [{ itemType: type, value: config, at: `${path}.deployItems.${i}.config` }] : [],
  ),
  ...spec.installations.flatMap((nested, i) => configsIn(nested.spec, `${path}.installations.${i}.spec`)),
]

function manifestsOf({ itemType, value, at }: PlacedConfig): readonly Placed[] {
  // An expression may stand for all of it.
  if (itemType !== KUBERNETES_MANIFEST || typeof value === 'string') return []
  const { manifests } = value as KubernetesManifestConfig
  const entries =
    typeof manifests === 'string'
      ? [{ value: manifests, at: `${at}.manifests` }]
      : manifests.map((entry, i) => ({ value: entry, at: `${at}.manifests.${i}` }))
  return entries.filter(
    ({ value: entry }) => typeof entry !== 'string' || !(hasExpressions(entry) || entry.length > READ_CHARACTERS),
  )
}

async function checkManifests({ sandbox, owner, problems }: Inspecting, manifests: readonly Placed[]): Promise<void> {
  if (manifests.length === 0) return
  const jobs = manifests.map(({ value }) => ({ type: 'manifest', value }) as const)
  // The deployer reads a text that takes too long here, as it does longer ones.
  for (const [i, verdict] of (await sandbox.inspect(jobs, owner)).entries())
    if (verdict.ok)
      for (const problem of verdict.problems) problems.add(`${manifests[i]?.at}${problem.path}`, problem.message)
}
