import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import type { HelmConfig } from '../../../../core/deployers/helm.ts'
import { DeployError } from '../deploy-error.ts'
import { stageOf } from '../kubernetes/stages.ts'

const HOOK = 'helm.sh/hook'
/** Run on request only (`helm test`). */
const TESTS = new Set(['test', 'test-success', 'test-failure'])

const titleOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`
const hooksOf = ({ metadata }: KubernetesObject): readonly string[] => {
  const hook = metadata.annotations?.[HOOK]
  return hook === undefined ? [] : String(hook).split(',')
}

/** The objects that a release consists of. @throws DeployError where it has hooks that must not be left out */
export function releaseOf(objects: readonly KubernetesObject[], { hooks, crds }: Pick<HelmConfig, 'hooks' | 'crds'>) {
  const isTest = (hook: string): boolean => TESTS.has(hook.trim())
  const needed = objects.filter((object) => hooksOf(object).some((hook) => !isTest(hook)))
  if (needed.length > 0 && (hooks ?? 'refuse') === 'refuse')
    throw new DeployError(
      'HELM_HOOKS',
      `The chart has hooks: ${needed.map(titleOf).join(', ')}. \`hooks: run\` applies them in their order, ` +
        '`hooks: skip` leaves them out; often a value of the chart switches them off.',
    )
  const isLeftOut = (object: KubernetesObject): boolean =>
    (hooks === 'run' ? stageOf(object) === null : hooksOf(object).length > 0) ||
    (crds === 'skip' && isDefinition(object))
  return {
    objects: objects
      .filter((object) => !isLeftOut(object))
      .map((object) => (isDefinition(object) && crds !== 'delete' ? kept(object) : object)),
    leftOut: objects.filter(isLeftOut).map(titleOf),
  }
}

export const isDefinition = ({ kind }: Pick<KubernetesObject, 'kind'>): boolean => kind === 'CustomResourceDefinition'

/** With a definition go all objects of its kind, whoever has made them. */
const kept = ({ metadata, ...rest }: KubernetesObject): KubernetesObject => ({
  ...rest,
  metadata: { ...metadata, annotations: { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' } },
})
