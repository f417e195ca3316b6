/** The schema of a `container` item's config, shared by the deployer and the server, which rejects an invalid one. */

export const CONTAINER = 'container'

type Text = string | number | boolean
export interface ContainerConfig {
  readonly mode?: 'job' | 'service'
  readonly image: string
  readonly command?: readonly Text[]
  readonly args?: readonly Text[]
  readonly env?: Readonly<Record<string, Text>>
  readonly secrets?: Readonly<Record<string, string>>
  readonly user?: string | number
  readonly workingDir?: string
  readonly network?: string
  readonly networks?: readonly string[]
  readonly aliases?: readonly string[]
  readonly volumes?: readonly Volume[]
  readonly files?: Readonly<Record<string, string>>
  readonly tmpfs?: readonly string[]
  readonly capabilities?: readonly Capability[]
  readonly memory?: string
  readonly cpus?: number
  readonly pids?: number
  readonly writableRoot?: boolean
  readonly graceMs?: number
  readonly output?: 'protocol' | 'text'
  readonly delete?: readonly Text[]
  readonly ports?: readonly PublishedPort[]
  readonly health?: HealthConfig
  readonly restart?: Restart
}
export interface Volume {
  readonly name: string
  readonly path: string
  readonly readOnly?: boolean
  readonly onDelete?: 'keep' | 'remove'
}
export interface PublishedPort {
  readonly container: number
  readonly host?: number
}
interface HealthConfig {
  readonly http?: { readonly path?: string; readonly port?: number }
  readonly command?: readonly Text[]
  readonly intervalMs?: number
  readonly timeoutMs?: number
  readonly retries?: number
}

/** A root that images start as, and give up, needs some of these; none of them reaches beyond the container. */
export const CAPABILITIES = [
  ...(['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL'] as const),
  ...(['NET_BIND_SERVICE', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'] as const),
] as const
type Capability = (typeof CAPABILITIES)[number]
export const RESTARTS = ['always', 'unless-stopped', 'on-failure'] as const
export type Restart = (typeof RESTARTS)[number]

const MAX_WORDS = 256
const word = { type: ['string', 'number', 'boolean'], maxLength: 65_536, pattern: '^[^\\u0000]*$' } as const
const words = { type: 'array', maxItems: MAX_WORDS, items: word } as const
const command = { ...words, minItems: 1 } as const
/** Names of secrets are names of files, too. */
const secretName = { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' } as const
/** Part of the name that a volume or a network has at the engine. */
const sharedName = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' } as const
/** Absolute, without the separators of engines, and without a way back. */
const path = { maxLength: 1_024, pattern: '^(?!.*/\\.{1,2}(/|$))(/[^/\\u0000:,]+)+$' } as const
/** Bytes of a file in the config. */
export const MAX_FILE = 262_144

const JOB_ONLY = {
  output: {
    enum: ['protocol', 'text'],
    default: 'protocol',
    description: 'The form of the standard output: lines of the gadget protocol, or any text, which exports nothing.',
  },
  delete: { ...command, description: 'Runs in the same image when the item is deleted.' },
} as const

const port = { type: 'integer', minimum: 1, maximum: 65_535 } as const
const SERVICE_ONLY = {
  ports: {
    type: 'array',
    maxItems: 64,
    description: 'Ports that are published on 127.0.0.1.',
    items: {
      type: 'object',
      required: ['container'],
      additionalProperties: false,
      properties: { container: port, host: { ...port, description: 'By default one that the engine chooses.' } },
    },
  },
  restart: {
    enum: RESTARTS,
    default: 'unless-stopped',
    description: 'When the engine starts it again: on-failure leaves alone what ends with exit code 0.',
  },
  health: {
    type: 'object',
    additionalProperties: false,
    description:
      'How it is known that the service does its work. By default the check of the image, or it has to run on for a moment.',
    properties: {
      http: {
        type: 'object',
        additionalProperties: false,
        description: 'A request to a published port has to be answered with a status from 200 to 399.',
        properties: {
          path: { type: 'string', maxLength: 2_048, pattern: '^/[!-~]*$', default: '/' },
          port: { ...port, description: 'The port of the container. By default the first published one.' },
        },
      },
      command: { ...command, description: 'A command in the container that has to end with exit code 0.' },
      intervalMs: { type: 'integer', minimum: 100, maximum: 60_000, default: 1_000 },
      timeoutMs: { type: 'integer', minimum: 100, maximum: 60_000, default: 5_000 },
      retries: { type: 'integer', minimum: 1, maximum: 1_000, default: 30 },
    },
  },
} as const

const isMode = (mode: string) => ({ required: ['mode'], properties: { mode: { const: mode } } })
const without = (...settings: readonly string[]) => ({
  properties: Object.fromEntries(settings.map((name) => [name, false])),
})

/** JSON Schema, draft 2020-12. */
export const CONTAINER_SCHEMA = {
  type: 'object',
  required: ['image'],
  additionalProperties: false,
  properties: {
    mode: {
      enum: ['job', 'service'],
      default: 'job',
      description: 'A job runs to its end; a service is kept running.',
    },
    image: { type: 'string', minLength: 1, maxLength: 512, pattern: '^[A-Za-z0-9]\\S*$' },
    command: { ...command, description: 'By default the one of the image.' },
    args: words,
    env: {
      type: 'object',
      maxProperties: 256,
      propertyNames: { minLength: 1, maxLength: 256, pattern: '^[^=\\u0000]+$' },
      additionalProperties: word,
      description: 'Can be seen by all who may ask the engine.',
    },
    secrets: {
      type: 'object',
      maxProperties: 64,
      propertyNames: secretName,
      additionalProperties: { type: 'string', maxLength: 65_536 },
      description: 'By name: files in the folder that the variable PHASELINE_SECRETS names.',
    },
    user: {
      type: ['string', 'integer'],
      minimum: 0,
      maximum: 999_999_999,
      pattern: '^\\d{1,9}(:\\d{1,9})?$',
      description: 'Such as 1000 or 1000:1000. By default the one of the image.',
    },
    workingDir: { type: 'string', ...path, description: 'By default the one of the image.' },
    network: {
      type: 'string',
      // A network of a project is in its `networks`.
      pattern: '^(?!host$|phaseline-[0-9a-f]{8}-)[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$',
      description: 'none, bridge, or the name of a network of the engine.',
    },
    networks: {
      type: 'array',
      minItems: 1,
      maxItems: 16,
      uniqueItems: true,
      items: sharedName,
      description: 'Networks of the project, in which its containers find each other by name. They replace network.',
    },
    aliases: {
      type: 'array',
      maxItems: 16,
      items: { type: 'string', pattern: '^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$' },
      description: 'Further names in its networks, beside that of the item.',
    },
    volumes: {
      type: 'array',
      maxItems: 32,
      description: 'Volumes of the project, which outlive containers.',
      items: {
        type: 'object',
        required: ['name', 'path'],
        additionalProperties: false,
        properties: {
          name: { ...sharedName, description: 'Containers of one project that name it share it.' },
          path: { type: 'string', ...path },
          readOnly: { type: 'boolean', default: false },
          onDelete: {
            enum: ['keep', 'remove'],
            default: 'keep',
            description: 'The effect of the deletion of the item on it; remove spares one that another container has.',
          },
        },
      },
    },
    files: {
      type: 'object',
      maxProperties: 64,
      propertyNames: path,
      additionalProperties: { type: 'string', maxLength: MAX_FILE },
      description: 'By path: read-only files, which are in memory as secrets are.',
    },
    tmpfs: {
      type: 'array',
      maxItems: 16,
      uniqueItems: true,
      items: { type: 'string', ...path },
      description: 'Folders in memory that it may write, besides /tmp.',
    },
    capabilities: {
      type: 'array',
      maxItems: CAPABILITIES.length,
      uniqueItems: true,
      items: { enum: CAPABILITIES },
      description: 'For images that start as root and give that up. By default none.',
    },
    memory: { type: 'string', pattern: '^[1-9]\\d{0,11}[kmgKMG]?$', description: 'Such as 512m or 2g.' },
    cpus: { type: 'number', exclusiveMinimum: 0, maximum: 1_024 },
    pids: { type: 'integer', minimum: 1, maximum: 1_000_000, default: 1_024 },
    writableRoot: { type: 'boolean', default: false },
    graceMs: {
      type: 'integer',
      minimum: 0,
      maximum: 300_000,
      default: 10_000,
      description: 'From the request to end to SIGKILL.',
    },
    ...JOB_ONLY,
    ...SERVICE_ONLY,
  },
  // Neither applies if the mode is an expression.
  allOf: [
    { if: { not: isMode('service') }, else: without(...Object.keys(JOB_ONLY)) },
    {
      if: { not: { anyOf: [isMode('job'), { not: { required: ['mode'] } }] } },
      else: without(...Object.keys(SERVICE_ONLY)),
    },
    { if: { required: ['networks'] }, else: without('aliases') },
    { if: { not: { required: ['networks'] } }, else: without('network') },
  ],
} as const
