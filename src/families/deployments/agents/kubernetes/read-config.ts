import { createHash } from 'node:crypto'
import { parseAllDocuments } from 'yaml'
import {
  KUBERNETES_MANIFEST_SCHEMA,
  type KubernetesManifestConfig,
} from '../../../../core/deployers/kubernetes-manifest.ts'
import { ConfigCheck } from '../../../../sandbox/check-config.ts'
import { DeployError } from '../deploy-error.ts'
import { APPLIED, ITEM, type KubernetesObject } from './objects.ts'

export interface ManifestConfig extends Omit<KubernetesManifestConfig, 'manifests'> {
  readonly manifests: readonly KubernetesObject[]
}

const CHECK = new ConfigCheck(KUBERNETES_MANIFEST_SCHEMA)
const MOST_PROBLEMS = 10

/** The config with all its texts read. @throws DeployError */
export function readConfig(config: unknown): ManifestConfig {
  refuse(config)
  const given = config as KubernetesManifestConfig
  const manifests = [given.manifests].flat().flatMap((one) => (typeof one === 'string' ? readYaml(one) : [one]))
  const read = { ...given, manifests }
  refuse(read)
  return read as ManifestConfig
}

function refuse(config: unknown): void {
  const problems = CHECK.problemsOf(config, 'config').slice(0, MOST_PROBLEMS)
  if (problems.length === 0) return
  throw new DeployError('KUBERNETES_CONFIG', problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
}

function readYaml(text: string): readonly object[] {
  const documents = parseAllDocuments(text)
  return ('empty' in documents ? [] : documents).flatMap((document) => {
    const [error] = document.errors
    // The text around it may be a secret.
    if (error)
      throw new DeployError('KUBERNETES_CONFIG', `A YAML text cannot be read: ${error.code} at ${where(error)}.`)
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    return value === null ? [] : [value as object]
  })
}

const where = ({
  linePos,
}: {
  readonly linePos?: readonly { readonly line: number; readonly col: number }[]
}): string => (linePos?.[0] ? `line ${linePos[0].line}, column ${linePos[0].col}` : 'an unknown place')

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
