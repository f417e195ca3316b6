import { type Manifest, manifestSchema } from './installation.ts'
import type { Place } from './place.ts'
import { type ProjectManifest, projectSchema } from './project.ts'
import type { ManifestProblem } from './read-document.ts'
import { readDocuments } from './read-documents.ts'

export type ParsedManifests =
  | {
      readonly ok: true
      readonly manifests: readonly Manifest[]
      readonly projects: readonly ProjectManifest[]
      /** The start of each document in the text. */
      readonly places: ReadonlyMap<Manifest | ProjectManifest, Place>
    }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

const KINDS = { Installation: manifestSchema, Project: projectSchema }

/** The installations and projects of a file. A document without `kind` has the given one. */
export function parseManifests(text: string, kind: keyof typeof KINDS = 'Installation'): ParsedManifests {
  const read = readDocuments<Manifest | ProjectManifest>(text, KINDS, kind)
  if (!read.ok) return read
  const of = (wanted: keyof typeof KINDS) => read.documents.flatMap((one) => (one.kind === wanted ? [one.value] : []))
  return {
    ok: true,
    manifests: of('Installation') as Manifest[],
    projects: of('Project') as ProjectManifest[],
    places: new Map(read.documents.map(({ value, place }) => [value, place])),
  }
}
