import { z } from 'zod'
import { jsonProblems } from '../core/json-problem.ts'
import { jsonBounds, LIMITS } from '../core/limits.ts'
import { duration } from './duration.ts'
import { pairsOf } from './pairs.ts'
import { textMap } from './text-map.ts'

type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** YAML has values that JSON does not: numbers such as NaN, and results of tags. */
function judgeJson(
  value: unknown,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
) {
  for (const { path, message } of jsonProblems(value, jsonBounds(LIMITS.json)))
    context.addIssue({ code: 'custom', path: [...path], message })
}

/** Names of installations, items and projects: the server has more rules for them. */
export const nameSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(253, 'is too long')
  .refine((text) => !text.includes('/'), 'must not hold a "/"')
const name = nameSchema
const json = z.custom<JsonValue>((value) => value !== undefined, 'must be a JSON value').superRefine(judgeJson)

/** Values of imports, by the names of these. */
export const valuesSchema = z.record(z.string(), json)

/** Specs of cluster and app instances: their CRM validates the content. */
export const instanceSpecSchema = z
  .custom<Readonly<Record<string, JsonValue>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .superRefine(judgeJson)

const timeout = z.union(
  [
    z.strictObject({ ms: z.int32().positive() }),
    z.strictObject({ never: z.literal(true) }),
    duration.transform((ms) => ({ ms })),
  ],
  'must be a duration such as 10m, {ms: <milliseconds>} or {never: true}',
)
const milliseconds = z.union([z.int32(), duration], 'must be a duration such as 10m, or a number of milliseconds')

export const retryPolicy = z.strictObject({
  attempts: z.int32(),
  backoff: z
    .strictObject({
      initialMs: milliseconds.optional(),
      factor: z.number().optional(),
      maxMs: milliseconds.optional(),
      jitter: z.number().optional(),
    })
    .optional(),
  on: z.array(z.string()).optional(),
  not: z.array(z.string()).optional(),
  attemptTimeoutMs: milliseconds.optional(),
})

export type RetryManifest = z.infer<typeof retryPolicy>

/** Limits that a worker template or a deploy item asks for. */
export const limitRequests = z.array(
  z.strictObject({
    limit: z.string(),
    key: z.string('must be text: put it in quotes').optional(),
    priority: z.int32().optional(),
  }),
)

const targetSelector = z.strictObject({
  type: z.string().optional(),
  labels: textMap.transform((map) => pairsOf(map)).optional(),
})
const deployItem = z.strictObject({
  name,
  type: z.string().min(1, 'must not be empty'),
  target: z.string().optional(),
  targetSelector: targetSelector.optional(),
  dependsOn: z.array(name).optional(),
  config: json.optional(),
  timeouts: z
    .strictObject({ pickup: timeout.optional(), progressing: timeout.optional(), aborting: timeout.optional() })
    .optional(),
  retry: retryPolicy.optional(),
  forEach: json.optional(),
  limits: limitRequests.optional(),
})

const reconcileTimes = {
  intervalMs: milliseconds.optional(),
  /** As in a schedule, one line may stand alone. */
  cron: z.union([z.string().transform((line) => [line]), z.array(z.string())]).optional(),
  timeZone: z.string().optional(),
}
const automaticReconcile = z.strictObject({
  afterSuccess: z.strictObject(reconcileTimes).optional(),
  afterFailure: z.strictObject({ attempts: z.int32().optional(), ...reconcileTimes }).optional(),
})

const spec = z
  .strictObject({
    target: z.string().optional(),
    targetSelector: targetSelector.optional(),
    imports: z
      .array(
        z.strictObject({
          ...{ name, from: name.optional(), schema: json.optional() },
          ...{ required: z.boolean().optional(), value: json.optional() },
        }),
      )
      .optional(),
    exports: z.array(z.strictObject({ name, value: json })).optional(),
    get installations() {
      return z.array(z.strictObject({ name, spec })).optional()
    },
    deployItems: z.array(deployItem).optional(),
    automaticReconcile: automaticReconcile.optional(),
  })
  .meta({ id: 'InstallationSpec' })

/** Beside name and spec; the server judges them. A value that equals the default is not written. */
const settings = {
  labels: textMap.optional(),
  description: z.string().optional(),
  ignored: z.boolean().optional(),
}
type Settings = z.infer<z.ZodObject<typeof settings>>
export const DEFAULT_SETTINGS: Required<Settings> = {
  labels: {},
  description: '',
  ignored: false,
}

/**
 * One document of `apply -f`: an Installation as the API takes it, with its labels as a map. Only the shape is
 * validated here; the server validates names, cycles and expressions.
 */
export const manifestSchema = z.strictObject({
  kind: z.literal('Installation', 'must be Installation or Project').optional(),
  name,
  project: name.optional(),
  ...settings,
  spec,
})

/** The settings that it has. */
export const settingsOf = (manifest: Manifest): Settings =>
  Object.fromEntries(Object.entries(manifest).filter(([key]) => Object.hasOwn(settings, key)))
export type Manifest = z.infer<typeof manifestSchema>
