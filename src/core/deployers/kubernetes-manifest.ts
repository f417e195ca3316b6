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
  readonly immutable?: 'refuse' | 'recreate'
  readonly adopt?: boolean
  readonly dryRun?: boolean
  readonly policies?: readonly ObjectPolicy[]
  readonly readiness?: readonly ReadinessRule[]
}
/** Objects of a config. Absent: any. */
export interface ObjectSelector {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
}
export const POLICIES = ['manage', 'keep', 'ignore', 'fallback', 'immutable'] as const
export type Policy = (typeof POLICIES)[number]
/** Settings of the objects that it selects. */
export interface ObjectPolicy extends ObjectSelector, Pick<KubernetesSettings, 'conflicts' | 'immutable'> {
  readonly policy?: Policy
}
/** Expressions over `object`, as it is in the cluster, instead of the rules of its kind. */
export interface ReadinessRule extends ObjectSelector {
  readonly kind: string
  readonly ready: string
  readonly failed?: string
  readonly message?: string
}
export const RULE_EXPRESSIONS = ['ready', 'failed', 'message'] as const
export interface KubernetesExport {
  readonly apiVersion?: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly path: string
}

// Names become segments of paths of the cluster's API.
export const NAME = { type: 'string', minLength: 1, maxLength: 253, pattern: '^(?!\\.{1,2}$)[^/%]+$' } as const
export const NAMESPACE = { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' } as const
export const API_VERSION = { type: 'string', maxLength: 253, pattern: '^([a-z0-9][a-z0-9.-]*/)?v[a-z0-9]+$' } as const
export const KIND = { type: 'string', maxLength: 63, pattern: '^[A-Za-z][A-Za-z0-9]*$' } as const

/** A path as kubectl's, of members, indexes, all entries, and entries that have a member of some value. */
const PATH =
  '^(\\.[A-Za-z_][\\w-]*|\\[\'[^\'\\]]+\'\\]|\\[\\d+\\]|\\[\\*\\]|\\[\\?\\(@(\\.[A-Za-z_]\\w*)+=="[^"\\\\]*"\\)\\])+$'

const SELECTOR = {
  apiVersion: { ...API_VERSION, description: 'Kinds of the same group; the version does not count.' },
  kind: KIND,
  namespace: NAMESPACE,
  name: NAME,
  labels: { type: 'object', maxProperties: 20, additionalProperties: { type: 'string', maxLength: 63 } },
} as const
const CONFLICTS = { enum: ['take', 'refuse'] } as const
const IMMUTABLE = { enum: ['refuse', 'recreate'] } as const
const EXPRESSION = { type: 'string', minLength: 1, maxLength: 4_096 } as const

/** JSON Schemas of `KubernetesSettings`. */
export const KUBERNETES_SETTINGS = {
  namespace: {
    ...NAMESPACE,
    description: 'The namespace of objects that name none. By default the one of the deployer.',
  },
  exports: {
    type: 'object',
    maxProperties: 100,
    description: 'Exports of the item by name: a value of an object of the manifests, as soon as it is there.',
    additionalProperties: {
      type: 'object',
      required: ['kind', 'name', 'path'],
      additionalProperties: false,
      properties: {
        apiVersion: API_VERSION,
        kind: KIND,
        namespace: NAMESPACE,
        name: NAME,
        path: { type: 'string', maxLength: 512, pattern: PATH },
      },
    },
  },
  conflicts: {
    ...CONFLICTS,
    default: 'take',
    description: 'The treatment of fields that others manage: they are taken over, or the item fails.',
  },
  drift: {
    enum: ['heal', 'fail'],
    default: 'heal',
    description: 'The treatment of objects that others have changed or deleted: they are mended, or the item fails.',
  },
  immutable: {
    ...IMMUTABLE,
    default: 'refuse',
    description:
      'The treatment of an object with a change of a field that cannot be changed: the item fails, or the object is deleted and created anew.',
  },
  adopt: { type: 'boolean', default: false, description: 'Takes over objects that exist and belong to no item.' },
  dryRun: { type: 'boolean', default: false, description: 'Changes nothing, and exports what would change.' },
  policies: {
    type: 'array',
    maxItems: 100,
    description:
      'Settings of single objects. If several entries select an object, the first that has a setting decides it.',
    items: {
      type: 'object',
      minProperties: 1,
      additionalProperties: false,
      properties: {
        ...SELECTOR,
        policy: {
          enum: POLICIES,
          description:
            'manage: applied and deleted. keep: never deleted. ignore: left alone. fallback: left alone if it belongs to others. immutable: created and deleted, never changed.',
        },
        conflicts: CONFLICTS,
        immutable: IMMUTABLE,
      },
    },
  },
  readiness: {
    type: 'array',
    maxItems: 100,
    description:
      'When objects are ready, instead of the rules of their kinds. An object that several entries select needs all.',
    items: {
      type: 'object',
      required: ['kind', 'ready'],
      additionalProperties: false,
      properties: {
        ...SELECTOR,
        ready: { ...EXPRESSION, description: 'CEL over `object`, e.g. object.status.phase == "Ready".' },
        failed: { ...EXPRESSION, description: 'CEL: it cannot become ready any more.' },
        message: { ...EXPRESSION, description: 'CEL: why it is not ready.' },
      },
    },
  },
} as const

/** Bounds the objects of one item, with texts and lists taken apart. */
export const MAX_OBJECTS = 1_000

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
      maxItems: MAX_OBJECTS,
      description: 'Objects, and YAML texts of one or more documents.',
      // `readObjects` judges them.
      items: { type: ['object', 'string'] },
    },
    ...KUBERNETES_SETTINGS,
  },
} as const
