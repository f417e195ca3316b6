import { z } from 'zod'
import { nameSchema } from './installation.ts'
import { parseDuration } from './parse-duration.ts'
import { templateJobs } from './task.ts'

const text = z.string('must be text: put it in quotes')
const texts = z.array(text)
const map = z.record(z.string(), text)

const timeout = z.string('must be a duration such as 10m').transform((written, context) => {
  const ms = parseDuration(written)
  if (ms !== null) return ms
  context.addIssue({ code: 'custom', message: 'must be a duration such as 90s, 10m or 1h30m' })
  return z.NEVER
})
const file = z
  .strictObject({ path: text, content: text.optional(), from: text.optional() })
  .refine(({ content, from }) => (content === undefined) !== (from === undefined), 'must have either content or from')

const workerTemplate = z.strictObject({
  runtime: z.string().optional(),
  image: z.string().nullable().optional(),
  command: texts.optional(),
  args: texts.optional(),
  env: map.optional(),
  files: z.array(file).optional(),
  timeout: timeout.nullable().optional(),
  workspace: z.boolean().optional(),
  targetLabels: map.optional(),
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
})
export type ProjectManifest = z.infer<typeof projectSchema>
