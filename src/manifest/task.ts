import { z } from 'zod'
import { gateSchema } from './gate.ts'
import { nameSchema, retryPolicy } from './installation.ts'
import { textMap } from './text-map.ts'

const text = z.string('must be text: put it in quotes')
const job = z.strictObject({
  name: nameSchema,
  gadget: text.min(1, 'must not be empty'),
  args: z.array(text).optional(),
  env: textMap.optional(),
  when: text.nullable().optional(),
  dependsOn: z.array(nameSchema).optional(),
  retry: retryPolicy.optional(),
  gate: gateSchema.optional(),
})

/** The jobs of a task, or of the tasks that a project's events create. */
export const templateJobs = z.array(job).min(1, 'must hold a job')

/**
 * The document of `task run -f`. Only the shape is validated here; the server validates names, cycles and expressions.
 */
export const taskSchema = z.strictObject({
  kind: z.literal('Task', 'must be Task').optional(),
  name: nameSchema,
  project: nameSchema.optional(),
  labels: textMap.optional(),
  jobs: templateJobs,
})
export type TaskManifest = z.infer<typeof taskSchema>
