/** Specs of instances for the CRM of Kubernetes. Names and values are those of Kubernetes. */

/** Amounts of resources by name. */
export type Quantities = Readonly<Record<string, string | number>>

/** A namespace, on the CRM's own cluster or on another that it knows. */
export interface KubernetesClusterSpec {
  readonly cluster?: string
  readonly quota?: Quantities
  readonly limitRange?: Readonly<Partial<Record<'default' | 'defaultRequest' | 'max' | 'min', Quantities>>>
}
/** A deployment and, with ports, a service. */
export interface KubernetesAppSpec {
  readonly image: string
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly ports?: readonly AppPort[]
  readonly serviceType?: 'ClusterIP' | 'NodePort' | 'LoadBalancer'
  readonly replicas?: number
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities }
  readonly readinessProbe?: Probe
  readonly minReadySeconds?: number
  readonly progressDeadlineSeconds?: number
  readonly terminationGracePeriodSeconds?: number
  readonly security?: 'restricted' | 'root-allowed'
  readonly runAsUser?: number
  readonly readOnlyRootFilesystem?: boolean
}
export interface AppPort {
  readonly port: number
  readonly targetPort?: number
  readonly name?: string
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP'
}
/** One of the first three says how. */
interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: number }
  readonly tcpSocket?: { readonly port: number }
  readonly exec?: { readonly command: readonly string[] }
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly failureThreshold?: number
}

export const DEADLINE_SECONDS = 300
/** A container that ends at once is never ready. */
export const MIN_READY_SECONDS = 2

const port = { type: 'integer', minimum: 1, maximum: 65_535 } as const
const seconds = { type: 'integer', minimum: 0, maximum: 3_600 } as const
const texts = { type: 'array', maxItems: 200, items: { type: 'string', maxLength: 10_000 } } as const
const quantities = {
  type: 'object',
  maxProperties: 50,
  propertyNames: { maxLength: 253, pattern: '^[A-Za-z0-9][A-Za-z0-9./_-]*$' },
  additionalProperties: {
    type: ['string', 'number'],
    minimum: 0,
    maxLength: 40,
    pattern: '^[0-9]+(\\.[0-9]+)?([numkMGTPE]|[KMGTPE]i|[eE][0-9]+)?$',
  },
} as const

/** JSON Schema, draft 2020-12. */
export const KUBERNETES_CLUSTER_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    cluster: {
      type: 'string',
      maxLength: 63,
      // It becomes the name of a file.
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      description: 'An existing cluster, by the name that its kubeconfig has with the CRM. By default the CRM’s own.',
    },
    quota: { ...quantities, description: 'The `hard` of a ResourceQuota, e.g. `requests.cpu`.' },
    limitRange: {
      type: 'object',
      additionalProperties: false,
      properties: { default: quantities, defaultRequest: quantities, max: quantities, min: quantities },
      description: 'A LimitRange of containers.',
    },
  },
} as const

/** JSON Schema, draft 2020-12. */
export const KUBERNETES_APP_SCHEMA = {
  type: 'object',
  required: ['image'],
  additionalProperties: false,
  properties: {
    image: { type: 'string', minLength: 1, maxLength: 1_000, pattern: '^\\S+$' },
    imagePullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
    command: texts,
    args: texts,
    env: {
      type: 'object',
      maxProperties: 500,
      propertyNames: { maxLength: 253, pattern: '^[A-Za-z_][A-Za-z0-9_.-]*$' },
      additionalProperties: { type: 'string', maxLength: 32_000 },
    },
    ports: {
      type: 'array',
      maxItems: 50,
      items: {
        type: 'object',
        required: ['port'],
        additionalProperties: false,
        properties: {
          port,
          targetPort: port,
          name: { type: 'string', maxLength: 15, pattern: '^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$' },
          protocol: { enum: ['TCP', 'UDP', 'SCTP'] },
        },
      },
      description: 'Ports of the service, and of the container.',
    },
    serviceType: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'], default: 'ClusterIP' },
    replicas: { type: 'integer', minimum: 0, maximum: 1_000, default: 1 },
    resources: {
      type: 'object',
      additionalProperties: false,
      properties: { requests: quantities, limits: quantities },
    },
    readinessProbe: {
      type: 'object',
      additionalProperties: false,
      properties: {
        httpGet: {
          type: 'object',
          required: ['path', 'port'],
          additionalProperties: false,
          properties: { path: { type: 'string', maxLength: 1_000, pattern: '^/' }, port },
        },
        tcpSocket: { type: 'object', required: ['port'], additionalProperties: false, properties: { port } },
        exec: { type: 'object', required: ['command'], additionalProperties: false, properties: { command: texts } },
        initialDelaySeconds: seconds,
        periodSeconds: { ...seconds, minimum: 1 },
        timeoutSeconds: { ...seconds, minimum: 1 },
        failureThreshold: { type: 'integer', minimum: 1, maximum: 1_000 },
      },
    },
    minReadySeconds: {
      ...seconds,
      default: MIN_READY_SECONDS,
      description: 'So long a pod must have been ready without a break.',
    },
    progressDeadlineSeconds: {
      ...{ type: 'integer', minimum: 1, maximum: 3_600, default: DEADLINE_SECONDS },
      description: 'After so long without progress it has failed.',
    },
    terminationGracePeriodSeconds: { ...seconds, default: 30 },
    security: {
      enum: ['restricted', 'root-allowed'],
      default: 'restricted',
      description: '`root-allowed` is for images whose user is root, where the CRM’s operator allows it.',
    },
    runAsUser: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
    readOnlyRootFilesystem: { type: 'boolean', default: false },
  },
} as const
