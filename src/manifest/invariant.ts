import { z } from 'zod'
import { nameSchema } from './installation.ts'
import { withoutEmpty } from './write-yaml.ts'

/** A document of the kind Invariant. */
export const invariantSchema = z.strictObject({
  kind: z.literal('Invariant', 'must be Invariant').optional(),
  name: nameSchema,
  project: nameSchema.optional(),
  description: z.string('must be text: put it in quotes').optional(),
  after: z
    .strictObject({
      project: nameSchema.describe('Another project.'),
      name: nameSchema
        .nullable()
        .optional()
        .describe('The root installation there. Left out or null: the name of the one that is to begin.'),
      sameValues: z
        .array(nameSchema)
        .optional()
        .describe('Imports whose own values have to be equal as well. Left out: none.'),
    })
    .describe('The root installation that has to succeed first, with the same spec.'),
})
export type InvariantManifest = z.infer<typeof invariantSchema>

/** The input of createInvariant and updateInvariant, apart from name and project. */
export const invariantInput = ({ description, after }: InvariantManifest) => ({
  description: description ?? null,
  after: {
    ...{ project: after.project, name: after.name ?? null },
    sameValues: [...new Set(after.sameValues)].sort(),
  },
})

/** An invariant as the API shows it. */
export interface ShownInvariant {
  readonly name: string
  /** Its name alone in what `get` prints. */
  readonly project: { readonly name: string } | string
  readonly description: string
  readonly after: { readonly project: string; readonly name: string | null; readonly sameValues: readonly string[] }
}

/** The document that makes this invariant. */
export const invariantManifest = ({ name, project, description, after }: ShownInvariant) => ({
  ...{ kind: 'Invariant', name, project: typeof project === 'string' ? project : project.name },
  ...withoutEmpty({ description: description || null }),
  after: { project: after.project, ...withoutEmpty({ name: after.name, sameValues: after.sameValues }) },
})

/** The document as `export` prints it once it is applied, with the defaults of the server. */
export const appliedInvariant = (manifest: InvariantManifest & { readonly project: string }) => {
  const { description, after } = invariantInput(manifest)
  return invariantManifest({ ...manifest, description: description ?? '', after })
}
