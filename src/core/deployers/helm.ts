import { KUBERNETES_SETTINGS, type KubernetesSettings } from './kubernetes-manifest.ts'

/** The schema of a `helm` item's config, shared by the deployer and the server, which rejects an invalid one. */

export const HELM = 'helm'

export interface HelmConfig extends KubernetesSettings {
  readonly chart: string
  readonly repo?: string
  readonly version?: string
  readonly release?: string
  readonly values?: Readonly<Record<string, unknown>>
  readonly hooks?: 'refuse' | 'skip' | 'run'
  readonly crds?: 'keep' | 'delete' | 'skip'
}

/** Names of releases as Helm has them. */
export const RELEASE_NAME = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$'
export const MAX_RELEASE_LENGTH = 53

/** JSON Schema, draft 2020-12. */
export const HELM_SCHEMA = {
  type: 'object',
  required: ['chart'],
  additionalProperties: false,
  properties: {
    chart: {
      type: 'string',
      maxLength: 512,
      pattern: '^([A-Za-z0-9][A-Za-z0-9._-]*|oci://[A-Za-z0-9][A-Za-z0-9._:/@-]*)$',
      description: 'A folder or archive in the deployer’s folder of charts, a chart of `repo`, or a reference oci://….',
    },
    repo: {
      type: 'string',
      maxLength: 512,
      pattern: '^https?://[A-Za-z0-9][^\\s@?#]*$',
      description: 'The repository of the chart.',
    },
    version: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      pattern: '^[0-9A-Za-z^~<>=*|., +-]+$',
      description: 'The version of a chart that is fetched, or a range as Helm has them.',
    },
    release: {
      type: 'string',
      maxLength: MAX_RELEASE_LENGTH,
      pattern: RELEASE_NAME,
      description: 'The name of the release. By default the one of the item.',
    },
    values: { type: 'object', description: 'Values that replace those of `values.yaml` of the chart.' },
    hooks: {
      enum: ['refuse', 'skip', 'run'],
      default: 'refuse',
      description:
        'The treatment of hooks: the item fails, they are left out, or they are applied in their order. Tests are always left out.',
    },
    crds: {
      enum: ['keep', 'delete', 'skip'],
      default: 'keep',
      description:
        'The treatment of definitions of kinds when the item is deleted: they stay, or go. Or they are left out.',
    },
    ...KUBERNETES_SETTINGS,
  },
  dependentRequired: { repo: ['version'] },
  allOf: [
    {
      if: { not: { properties: { chart: { type: 'string', pattern: '^oci://[^@]*$' } } } },
      else: { required: ['version'] },
    },
    { if: { not: { required: ['repo'] } }, else: { properties: { chart: { pattern: '^[^:]*$' } } } },
  ],
} as const
