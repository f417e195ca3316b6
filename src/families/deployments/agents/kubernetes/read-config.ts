import { createHash } from 'node:crypto'
import type { KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import {
  KUBERNETES_MANIFEST_SCHEMA,
  type KubernetesManifestConfig,
} from '../../../../core/deployers/kubernetes-manifest.ts'
import { ConfigCheck } from '../../../../sandbox/check-config.ts'
import { DeployError } from '../deploy-error.ts'
import { APPLIED, ITEM } from './marks.ts'
import { readYaml, YamlProblem } from './read-yaml.ts'
import { refuseProblems } from './refuse-problems.ts'

export interface ManifestConfig extends Omit<KubernetesManifestConfig, 'manifests'> {
  readonly manifests: readonly KubernetesObject[]
}

const CHECK = new ConfigCheck(KUBERNETES_MANIFEST_SCHEMA)

/** The config with all its texts read. @throws DeployError */
export function readConfig(config: unknown): ManifestConfig {
  refuseProblems('KUBERNETES_CONFIG', CHECK.problemsOf(config, 'config'))
  const given = config as KubernetesManifestConfig
  const manifests = [given.manifests].flat().flatMap((one) => (typeof one === 'string' ? readTexts(one) : [one]))
  const read = { ...given, manifests }
  refuseProblems('KUBERNETES_CONFIG', CHECK.problemsOf(read, 'config'))
  return read as ManifestConfig
}

const MANIFESTS = new ConfigCheck(KUBERNETES_MANIFEST_SCHEMA.properties.manifests)

/** Objects that were made of something else than the config. @throws DeployError */
export function checkManifests(code: string, objects: readonly object[]): readonly KubernetesObject[] {
  if (objects.length > 0) refuseProblems(code, MANIFESTS.problemsOf(objects, 'manifests'))
  return objects as readonly KubernetesObject[]
}

function readTexts(text: string): readonly object[] {
  try {
    return readYaml(text)
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error
    throw new DeployError('KUBERNETES_CONFIG', `A YAML text cannot be read: ${error.message}.`)
  }
}

/** The manifest with our marks. */
export function marked(manifest: KubernetesObject, namespace: string | null, item: string): KubernetesObject {
  const { metadata, ...rest } = manifest
  const { namespace: _given, ...others } = metadata
  const annotations = { ...metadata.annotations, [ITEM]: item, [APPLIED]: digestOf(manifest) }
  return { ...rest, metadata: { ...others, ...(namespace === null ? {} : { namespace }), annotations } }
}

/** It can be read by those only who may read the object. */
const digestOf = (manifest: KubernetesObject): string =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex').slice(0, 16)
