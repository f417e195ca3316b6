import { z } from 'zod'
import { nameSchema } from './installation.ts'
import { withoutEmpty } from './write-yaml.ts'

const text = z.string('must be text: put it in quotes')
const most = z.int32().positive().nullable().optional()

/** A document of the kind Limit. */
export const limitSchema = z
  .strictObject({
    kind: z.literal('Limit', 'must be Limit').optional(),
    name: nameSchema,
    project: nameSchema.optional(),
    description: text.optional(),
    max: most.describe('How many may hold it at once, of all keys together. Left out or null: no bound.'),
    maxPerKey: most.describe('How many may hold it at once with the same key. Left out or null: no bound.'),
  })
  .refine(
    ({ max, maxPerKey }) => (max ?? null) !== null || (maxPerKey ?? null) !== null,
    'must have max, maxPerKey or both',
  )
export type LimitManifest = z.infer<typeof limitSchema>

/** The input of createLimit and updateLimit, apart from name and project. */
export const limitInput = ({ description, max, maxPerKey }: LimitManifest) => ({
  ...{ description: description ?? null, max: max ?? null, maxPerKey: maxPerKey ?? null },
})

/** A limit as the API shows it. */
export interface ShownLimit {
  readonly name: string
  /** Its name alone in what `get` prints. */
  readonly project: { readonly name: string } | string
  readonly description: string
  readonly max: number | null
  readonly maxPerKey: number | null
}

/** The document that makes this limit. */
export const limitManifest = ({ name, project, description, max, maxPerKey }: ShownLimit) => ({
  ...{ kind: 'Limit', name, project: typeof project === 'string' ? project : project.name },
  ...withoutEmpty({ description: description || null, max, maxPerKey }),
})

/** The document as `export` prints it once it is applied, with the defaults of the server. */
export const appliedLimit = ({
  name,
  project,
  description = '',
  max = null,
  maxPerKey = null,
}: LimitManifest & { readonly project: string }) => limitManifest({ name, project, description, max, maxPerKey })
