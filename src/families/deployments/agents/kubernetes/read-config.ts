import { createHash } from 'node:crypto'
import { fieldsOf, type KubernetesObject } from '../../../../agents/kubernetes/objects.ts'
import {
  KUBERNETES_MANIFEST_SCHEMA,
  type KubernetesManifestConfig,
  MAX_OBJECTS,
} from '../../../../core/deployers/kubernetes-manifest.ts'
import { readManifests } from '../../../../manifest/kubernetes-objects.ts'
import { ConfigCheck } from '../../../../sandbox/check-config.ts'

import { refuseProblems } from '../deploy-error.ts'
import { APPLIED, ITEM } from './annotations.ts'
import { withName } from './stages.ts'

export interface ManifestConfig extends Omit<KubernetesManifestConfig, 'manifests'> {
  readonly manifests: readonly KubernetesObject[]
}

const CHECK = new ConfigCheck(KUBERNETES_MANIFEST_SCHEMA, { hasExpressions: false })

/** The config with all its texts read, and its lists taken apart. @throws DeployError */
export function readConfig(config: unknown): ManifestConfig {
  refuseProblems('KUBERNETES_CONFIG', CHECK.problemsOf(config, 'config'))
  const given = config as KubernetesManifestConfig
  return { ...given, manifests: objectsOf('KUBERNETES_CONFIG', given.manifests, 'config.manifests') }
}

/** @throws DeployError with this code */
export function objectsOf(
  code: string,
  manifests: KubernetesManifestConfig['manifests'],
  at: string,
): readonly KubernetesObject[] {
  const { objects, problems } = readManifests(manifests, at)
  refuseProblems(code, problems)
  if (objects.length > MAX_OBJECTS)
    refuseProblems(code, [{ path: at, message: `has ${objects.length} objects: more than ${MAX_OBJECTS}` }])
  return (objects as readonly KubernetesObject[]).map(withName)
}

/** The manifest with our annotations. */
export function annotated(manifest: KubernetesObject, namespace: string | null, item: string): KubernetesObject {
  const { metadata, ...rest } = withPlainData(manifest)
  const { namespace: _given, ...others } = metadata
  const annotations = { ...metadata.annotations, [ITEM]: item, [APPLIED]: digestOf(manifest) }
  return { ...rest, metadata: { ...others, ...(namespace === null ? {} : { namespace }), annotations } }
}

/**
 * The API server keeps no record of `stringData`, so a key that goes from it would stay in the cluster
 * (https://github.com/kubernetes/kubernetes/issues/108008). As `data` it is removed.
 */
function withPlainData(manifest: KubernetesObject & { readonly data?: unknown; readonly stringData?: unknown }) {
  const { stringData, ...rest } = manifest
  if (manifest.apiVersion !== 'v1' || manifest.kind !== 'Secret' || stringData === undefined) return manifest
  const encoded = Object.entries(fieldsOf(stringData)).map(([key, value]) => [
    key,
    typeof value === 'string' ? Buffer.from(value).toString('base64') : value,
  ])
  return { ...rest, data: { ...fieldsOf(manifest.data), ...Object.fromEntries(encoded) } }
}

/** It can be read by those only who may read the object. */
const digestOf = (manifest: KubernetesObject): string =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex').slice(0, 16)
