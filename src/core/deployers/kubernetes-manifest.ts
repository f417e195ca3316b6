/**
 * The schema of a `kubernetes-manifest` item's config, shared by the deployer and the server, which rejects an invalid
 * one.
 */

export const KUBERNETES_MANIFEST = 'kubernetes-manifest'

export interface KubernetesManifestConfig extends KubernetesSettings {
  readonly manifests: string | readonly (string | object)[]
}
/** Settings for applying manifests, whatever their source. */
export interface KubernetesSettings {
  readonly namespace?: string
  readonly exports?: Readonly<Record<string, KubernetesExport>>
  readonly conflicts?: 'take' | 'refuse'
  readonly drift?: 'heal' | 'fail'
  readonly adopt?: boolean
  readonly dryRun?: boolean
}
export interface KubernetesExport {
  readonly apiVersion?: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly path: string
}

// Names become segments of paths of the cluster's API.
const name = { type: 'string', minLength: 1, maxLength: 253, pattern: '^(?!\\.{1,2}$)[^/%]+$' } as const
const namespace = { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' } as const
const apiVersion = { type: 'string', maxLength: 253, pattern: '^([a-z0-9][a-z0-9.-]*/)?v[a-z0-9]+$' } as const
const kind = { type: 'string', maxLength: 63, pattern: '^[A-Za-z][A-Za-z0-9]*$' } as const

/** A path as kubectl's, of members, indexes, all entries, and entries that have a member of some value. */
const PATH =
  '^(\\.[A-Za-z_][\\w-]*|\\[\'[^\'\\]]+\'\\]|\\[\\d+\\]|\\[\\*\\]|\\[\\?\\(@(\\.[A-Za-z_]\\w*)+=="[^"\\\\]*"\\)\\])+$'

/** JSON Schemas of `KubernetesSettings`. */
export const KUBERNETES_SETTINGS = {
  namespace: { ...namespace, description: 'Of objects that name none. By default the one of the deployer.' },
  exports: {
    type: 'object',
    maxProperties: 100,
    description: 'Exports of the item by name: a value of an object of the manifests, as soon as it is there.',
    additionalProperties: {
      type: 'object',
      required: ['kind', 'name', 'path'],
      additionalProperties: false,
      properties: { apiVersion, kind, namespace, name, path: { type: 'string', maxLength: 512, pattern: PATH } },
    },
  },
  conflicts: {
    enum: ['take', 'refuse'],
    default: 'take',
    description: 'What happens to fields that others manage: they are taken over, or the item fails.',
  },
  drift: {
    enum: ['heal', 'fail'],
    default: 'heal',
    description: 'What happens to objects that others have changed or deleted: they are mended, or the item fails.',
  },
  adopt: { type: 'boolean', default: false, description: 'Takes over objects that exist and belong to no item.' },
  dryRun: { type: 'boolean', default: false, description: 'Changes nothing, and exports what would change.' },
} as const

/** JSON Schema, draft 2020-12. */
export const KUBERNETES_MANIFEST_SCHEMA = {
  type: 'object',
  required: ['manifests'],
  additionalProperties: false,
  properties: {
    manifests: {
      type: ['array', 'string'],
      minItems: 1,
      minLength: 1,
      maxItems: 1_000,
      description: 'Objects, and YAML texts of one or more documents.',
      items: {
        type: ['object', 'string'],
        required: ['apiVersion', 'kind', 'metadata'],
        properties: {
          apiVersion,
          kind,
          metadata: { type: 'object', required: ['name'], properties: { name, namespace } },
        },
      },
    },
    ...KUBERNETES_SETTINGS,
  },
} as const
