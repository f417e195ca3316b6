import { CONTAINER, CONTAINER_SCHEMA } from '../../../core/deployers/container.ts'
import { HELM, HELM_SCHEMA } from '../../../core/deployers/helm.ts'
import { KUBERNETES_MANIFEST, KUBERNETES_MANIFEST_SCHEMA } from '../../../core/deployers/kubernetes-manifest.ts'
import type { Problems } from '../../../core/problems.ts'
import { ConfigCheck } from '../../../sandbox/check-config.ts'
import type { InstallationSpec } from '../rules/spec.ts'

/** By the type of items. */
const CHECKS: ReadonlyMap<string, ConfigCheck> = new Map([
  [CONTAINER, new ConfigCheck(CONTAINER_SCHEMA)],
  [HELM, new ConfigCheck(HELM_SCHEMA)],
  [KUBERNETES_MANIFEST, new ConfigCheck(KUBERNETES_MANIFEST_SCHEMA)],
])

/** Refuses configs that a built-in deployer could only refuse. */
export function checkConfigs(spec: InstallationSpec, path: string, problems: Problems): void {
  for (const [i, { type, config }] of spec.deployItems.entries()) {
    const found = CHECKS.get(type)?.problemsOf(config, `${path}.deployItems.${i}.config`) ?? []
    for (const problem of found) problems.add(problem.path, problem.message)
  }
  for (const [i, nested] of spec.installations.entries())
    checkConfigs(nested.spec, `${path}.installations.${i}.spec`, problems)
}
