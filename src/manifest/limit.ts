import { z } from 'zod'
import { writeDuration } from '../core/parse-duration.ts'
import { duration } from './duration.ts'
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
    rate: z
      .strictObject({
        count: z.int32().positive().describe('How many may start.'),
        per: duration.describe('Any time as long as this.'),
      })
      .nullable()
      .optional()
      .describe('How many may start with the same key in a time. Left out or null: no bound.'),
    weights: z
      .record(z.string(), z.int32().positive())
      .optional()
      .describe('Weights of keys, which take turns; 1 for the others.'),
    strategy: z
      .enum(['QUEUE', 'LATEST_ONLY', 'CANCEL_RUNNING', 'SKIP'])
      .optional()
      .describe(
        'A newer worker or job with the same key: waits for its turn, as left out (QUEUE); takes the place of those that wait (LATEST_ONLY), or of those that run, too (CANCEL_RUNNING); or is not started while there is an older one (SKIP).',
      ),
    debounce: duration
      .nullable()
      .optional()
      .describe(
        'A worker or job starts once it is so old, so that a newer one can take its place before. Left out or null: at once.',
      ),
    shared: z
      .boolean()
      .optional()
      .describe('Objects of other projects may ask for it, too, as project/name. Left out: false.'),
  })
  .refine(
    ({ max, maxPerKey, rate, strategy = 'QUEUE' }) =>
      strategy !== 'QUEUE' || [max, maxPerKey, rate].some((bound) => (bound ?? null) !== null),
    'must have max, maxPerKey, rate, or a strategy other than QUEUE',
  )
export type LimitManifest = z.infer<typeof limitSchema>

/** The input of createLimit and updateLimit, apart from name and project. */
export const limitInput = ({ description, max, maxPerKey, rate, weights = {}, ...limit }: LimitManifest) => ({
  ...{ description: description ?? null, max: max ?? null, maxPerKey: maxPerKey ?? null },
  rate: rate ? { count: rate.count, perMs: rate.per } : null,
  weights: Object.entries(weights).map(([key, weight]) => ({ key, weight })),
  ...{ strategy: limit.strategy ?? ('QUEUE' as const), debounceMs: limit.debounce ?? null },
  shared: limit.shared ?? false,
})

/** A limit as the API shows it. */
export interface ShownLimit {
  readonly name: string
  /** Its name alone in what `get` prints. */
  readonly project: { readonly name: string } | string
  readonly description: string
  readonly max: number | null
  readonly maxPerKey: number | null
  readonly rate: { readonly count: number; readonly perMs: number } | null
  readonly weights: readonly { readonly key: string; readonly weight: number }[]
  readonly strategy: 'QUEUE' | 'LATEST_ONLY' | 'CANCEL_RUNNING' | 'SKIP'
  readonly debounceMs: number | null
  readonly shared: boolean
}

/** The document that makes this limit. */
export const limitManifest = ({ name, project, description, max, maxPerKey, rate, weights, ...limit }: ShownLimit) => ({
  ...{ kind: 'Limit', name, project: typeof project === 'string' ? project : project.name },
  ...withoutEmpty({ description: description || null, max, maxPerKey }),
  ...(limit.strategy !== 'QUEUE' && { strategy: limit.strategy }),
  ...(limit.debounceMs !== null && { debounce: writeDuration(limit.debounceMs) }),
  ...(limit.shared && { shared: true }),
  ...(rate && { rate: { count: rate.count, per: writeDuration(rate.perMs) } }),
  ...withoutEmpty({ weights: Object.fromEntries(weights.map(({ key, weight }) => [key, weight])) }),
})

/** The document as `export` prints it once it is applied, with the defaults of the server. */
export const appliedLimit = (manifest: LimitManifest & { readonly project: string }) => {
  const { description, weights, ...bounds } = limitInput(manifest)
  const inOrder = weights.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const { name, project } = manifest
  return limitManifest({ name, project, description: description ?? '', ...bounds, weights: inOrder })
}
