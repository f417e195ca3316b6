import { type Fields, fieldsOf, type KubernetesObject, listOf } from '../../../../agents/kubernetes/objects.ts'
import type { HelmConfig } from '../../../../core/deployers/helm.ts'
import { DeployError } from '../deploy-error.ts'

const HOOK = 'helm.sh/hook'
/** Run on request only (`helm test`). */
const TESTS = new Set(['test', 'test-success', 'test-failure'])

const annotationsOf = (object: Fields): Fields => fieldsOf(fieldsOf(object.metadata).annotations)
const titleOf = (object: Fields): string => `${String(object.kind)} ${String(fieldsOf(object.metadata).name)}`

/** The objects that a release consists of. @throws DeployError where it has hooks that must not be left out */
export function releaseOf(rendered: readonly object[], { hooks, crds }: Pick<HelmConfig, 'hooks' | 'crds'>) {
  const objects = rendered.flatMap(entriesOf)
  const isHook = (object: Fields): boolean => HOOK in annotationsOf(object)
  const needed = objects.filter((object) => isHook(object) && !isTest(object))
  if (needed.length > 0 && hooks !== 'skip')
    throw new DeployError(
      'HELM_HOOKS',
      `The chart has hooks, which are not run: ${needed.map(titleOf).join(', ')}. ` +
        '`hooks: skip` leaves them out; often a value of the chart switches them off.',
    )
  const isLeftOut = (object: Fields): boolean => isHook(object) || (crds === 'skip' && isDefinition(object))
  return {
    objects: objects
      .filter((object) => !isLeftOut(object))
      .map((object) => (isDefinition(object) && crds !== 'delete' ? kept(object) : object)),
    leftOut: objects.filter(isLeftOut).map(titleOf),
  }
}

/** The entries of a list. */
function entriesOf(document: object): readonly Fields[] {
  const object = fieldsOf(document)
  return object.kind === 'List' ? listOf(object.items).map(fieldsOf) : [object]
}

const isTest = (object: Fields): boolean =>
  String(annotationsOf(object)[HOOK])
    .split(',')
    .every((hook) => TESTS.has(hook.trim()))

export const isDefinition = ({ kind }: Pick<KubernetesObject, 'kind'> | Fields): boolean =>
  kind === 'CustomResourceDefinition'

/** With a definition go all objects of its kind, whoever has made them. */
const kept = (object: Fields): Fields => {
  const metadata = fieldsOf(object.metadata)
  const annotations = { ...fieldsOf(metadata.annotations), 'helm.sh/resource-policy': 'keep' }
  return { ...object, metadata: { ...metadata, annotations } }
}
