import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { CONTAINER, CONTAINER_SCHEMA } from '../../../core/deployers/container.ts'
import { HELM, HELM_SCHEMA } from '../../../core/deployers/helm.ts'
import {
  KUBERNETES_MANIFEST,
  KUBERNETES_MANIFEST_SCHEMA,
  type KubernetesManifestConfig,
  type KubernetesSettings,
} from '../../../core/deployers/kubernetes-manifest.ts'
import { hasExpressions } from '../../../core/expression.ts'
import type { Problems } from '../../../core/problems.ts'
import { readObjects } from '../../../manifest/kubernetes-objects.ts'
import { ConfigCheck } from '../../../sandbox/check-config.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import { ruleProblems } from '../../../sandbox/readiness.ts'
import type { InstallationSpec } from '../rules/spec.ts'

/** By the type of items. */
const CHECKS: ReadonlyMap<string, ConfigCheck> = new Map([
  [CONTAINER, new ConfigCheck(CONTAINER_SCHEMA)],
  [HELM, new ConfigCheck(HELM_SCHEMA)],
  [KUBERNETES_MANIFEST, new ConfigCheck(KUBERNETES_MANIFEST_SCHEMA)],
])

/** Longer texts are left to the deployer: it takes some tens of milliseconds to read so many characters. */
const READ_CHARACTERS = 128 * 1_024

/** Refuses configs that a built-in deployer could only refuse. */
export async function checkConfigs(
  sandbox: Pick<Sandbox, 'analyze'>,
  spec: InstallationSpec,
  path: string,
  problems: Problems,
): Promise<void> {
  for (const [i, { type, config }] of spec.deployItems.entries()) {
    const at = `${path}.deployItems.${i}.config`
    const found = CHECKS.get(type)?.problemsOf(config, at) ?? []
    for (const problem of found) problems.add(problem.path, problem.message)
    if (found.length > 0) continue
    if (type === KUBERNETES_MANIFEST || type === HELM)
      for (const { path, message } of await ruleProblems(sandbox, config as KubernetesSettings, at))
        problems.add(path, message)
    if (type === KUBERNETES_MANIFEST)
      await checkManifests((config as KubernetesManifestConfig).manifests, `${at}.manifests`, problems)
  }
  for (const [i, nested] of spec.installations.entries())
    await checkConfigs(sandbox, nested.spec, `${path}.installations.${i}.spec`, problems)
}

async function checkManifests(
  manifests: KubernetesManifestConfig['manifests'],
  path: string,
  problems: Problems,
): Promise<void> {
  const entries = typeof manifests === 'string' ? [manifests] : manifests
  for (const [i, entry] of entries.entries()) {
    if (typeof entry === 'string' && (hasExpressions(entry) || entry.length > READ_CHARACTERS)) continue
    for (const problem of readObjects(entry, typeof manifests === 'string' ? path : `${path}.${i}`).problems)
      problems.add(problem.path, problem.message)
    // Each text takes its time, and other requests theirs between.
    if (typeof entry === 'string') await yieldToOthers()
  }
}
