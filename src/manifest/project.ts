import { z } from 'zod'
import { duration } from './duration.ts'
import { gateSchema } from './gate.ts'
import { limitRequests, nameSchema, retryPolicy } from './installation.ts'
import { templateJobs } from './task.ts'
import { textMap as map } from './text-map.ts'

const text = z.string('must be text: put it in quotes')
const texts = z.array(text)

const file = z
  .strictObject({
    ...{ path: text, content: text.optional(), secret: text.optional() },
    from: text.optional().describe('A file beside the document, whose content it gets.'),
  })
  .refine(
    ({ content, from, secret }) => [content, from, secret].filter((given) => given !== undefined).length === 1,
    'must have one of content, from and secret',
  )
/** The repository that the runtime clones before the start. */
const clone = z.strictObject({
  url: text,
  ref: text.optional(),
  depth: z.int32().nonnegative().optional(),
  path: text.optional(),
  secret: text.optional(),
})
export type CloneManifest = z.infer<typeof clone>

/** A program that runs beside a worker. */
const service = z.strictObject({
  name: text,
  image: z.string().nullable().optional(),
  command: texts.optional(),
  args: texts.optional(),
  env: map.optional(),
  secrets: texts.optional(),
  ports: z.array(z.int32()).optional(),
  user: z.int32().nullable().optional(),
  readiness: z
    .strictObject({
      port: z.int32().optional(),
      command: texts.optional(),
      timeout: duration
        .optional()
        .describe('Duration after its start, such as 30s, by which it has to be ready. Left out: 1m.'),
    })
    .refine(({ port, command }) => port === undefined || command === undefined, 'must have either port or command')
    .optional(),
})
export type ServiceManifest = z.infer<typeof service>

const workerTemplate = z.strictObject({
  runtime: z.string().optional(),
  image: z.string().nullable().optional(),
  command: texts.optional(),
  args: texts.optional(),
  env: map.optional(),
  files: z.array(file).optional(),
  timeout: duration
    .nullable()
    .optional()
    .describe(
      'Duration from the first claim by a runtime to its end as TIMED_OUT, such as 15m. Left out or null: no limit.',
    ),
  retry: retryPolicy.nullable().optional(),
  workspace: z.boolean().optional(),
  targetLabels: map.optional(),
  limits: limitRequests.optional(),
  gate: gateSchema.nullable().optional(),
  caches: z.array(z.strictObject({ key: text, restoreKeys: texts.optional(), path: text })).optional(),
  artifacts: z
    .array(
      z.strictObject({
        name: text,
        path: text,
        when: z.enum(['SUCCESS', 'ALWAYS']).optional(),
        optional: z.boolean().optional(),
      }),
    )
    .optional(),
  clone: clone.nullable().optional(),
  services: z.array(service).optional(),
})
const subscription = z.strictObject({
  source: text,
  types: texts.min(1, 'must name a type, or be ["*"] for all'),
  qualifiers: map.optional(),
  labels: map.optional(),
  task: z.strictObject({ jobs: templateJobs }).nullable().optional(),
})
const most = z.int32().nonnegative().nullable().optional()

/**
 * A document of the kind Project. An omitted part stays as it is, as labels of installations do; null clears it. Only
 * the shape is validated here; the server validates names, paths and bounds.
 */
export const projectSchema = z.strictObject({
  kind: z.literal('Project', 'must be Installation or Project').optional(),
  name: nameSchema,
  workerTemplate: workerTemplate.nullable().optional(),
  subscriptions: z.array(subscription).optional(),
  limits: z
    .strictObject({ maxWorkers: most, maxJobs: most, strategy: z.enum(['QUEUE', 'LATEST_ONLY']).nullable().optional() })
    .nullable()
    .optional(),
  promotesTo: nameSchema.nullable().optional(),
})
export type ProjectManifest = z.infer<typeof projectSchema>
