import { readFile } from 'node:fs/promises'
import { LineCounter } from 'yaml'
import { z } from 'zod'
import { UsageError } from '../../../../agents/arguments.ts'
import { placeAt } from '../../../../manifest/place.ts'
import { readYaml } from '../../../../manifest/read-yaml.ts'

const quantities = z.record(z.string(), z.union([z.string(), z.number()]).transform(String))
const toleration = z.strictObject({
  key: z.string().optional(),
  operator: z.enum(['Exists', 'Equal']).optional(),
  value: z.string().optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.int().optional(),
})
const seconds = z.int().min(0).max(86_400)

/** Settings of a runtime's pods. Names and values are those of a pod's spec. */
const settings = z.strictObject({
  /** None: pods have no access to the API of the cluster. */
  serviceAccountName: z.string().optional(),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
  /** Names of secrets with the credentials of registries. */
  imagePullSecrets: z.array(z.string()).default([]),
  resources: z.strictObject({ requests: quantities.optional(), limits: quantities.optional() }).default({}),
  nodeSelector: z.record(z.string(), z.string()).default({}),
  tolerations: z.array(toleration).default([]),
  /** `restricted` is the Pod Security Standard; `root-allowed` is the same, for images whose user is root. */
  security: z.enum(['restricted', 'root-allowed']).default('restricted'),
  /** User and group id of pods; the image's own otherwise. */
  runAsUser: z.int().min(0).optional(),
  readOnlyRootFilesystem: z.boolean().default(false),
  /** The volume claim that a worker shares with its jobs. */
  workspace: z
    .strictObject({
      size: z.string().default('1Gi'),
      storageClassName: z.string().optional(),
      accessMode: z.enum(['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod']).default('ReadWriteOnce'),
    })
    .prefault({}),
  /** How long a pod may wait for a node that takes it. */
  schedulingSeconds: seconds.default(300),
  /** How long an image may fail to be pulled. */
  imagePullSeconds: seconds.default(60),
})
export type PodSettings = z.infer<typeof settings>

/** @throws UsageError */
export function readSettings(value: unknown): PodSettings {
  const parsed = settings.safeParse(value ?? {})
  if (parsed.success) return parsed.data
  throw new UsageError(`The settings of pods are wrong:\n${z.prettifyError(parsed.error)}`)
}

/**
 * Reads settings from a YAML file; undefined: the defaults.
 * @throws UsageError
 */
export async function loadSettings(file: string | undefined): Promise<PodSettings> {
  if (file === undefined) return readSettings({})
  try {
    return readSettings(readPods(await readFile(file, 'utf8')))
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--pods cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function readPods(text: string): unknown {
  const lines = new LineCounter()
  const document = readYaml(text, lines)
  const [error] = document.errors
  if (!error) return document.toJS()
  const { line, column } = placeAt(lines, error.pos[0])
  throw new UsageError(`--pods cannot be read: line ${line}, column ${column}: ${error.message}`)
}
