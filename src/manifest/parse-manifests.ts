import { isMap, isScalar, LineCounter } from 'yaml'
import { type Manifest, manifestSchema } from './installation.ts'
import { offsetOf, type Place, placeAt } from './place.ts'
import { type ProjectManifest, projectSchema } from './project.ts'
import { judgeDocument, type ManifestProblem, type ReadDocument, unlessTooDeep } from './read-document.ts'
import { type Doc, readAllYaml } from './read-yaml.ts'

export type ParsedManifests =
  | {
      readonly ok: true
      readonly manifests: readonly Manifest[]
      readonly projects: readonly ProjectManifest[]
      /** The start of each document in the text. */
      readonly places: ReadonlyMap<Manifest | ProjectManifest, Place>
    }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

/** The kind of a document. */
export type ManifestKind = 'Installation' | 'Project'

/**
 * Reads a file of YAML documents, or JSON, which is YAML too. The problems of all documents are reported together. A
 * document without `kind` has the given one.
 */
export const parseManifests = (text: string, kind: ManifestKind = 'Installation'): ParsedManifests =>
  unlessTooDeep(() => parse(text, kind))

function parse(text: string, kind: ManifestKind): ParsedManifests {
  const lines = new LineCounter()
  const documents = readAllYaml(text, lines).filter(hasContent)
  if (documents.length === 0) return { ok: false, problems: [{ path: '', message: 'The file holds no document.' }] }
  const manifests: Manifest[] = []
  const projects: ProjectManifest[] = []
  const problems: ManifestProblem[] = []
  const places = new Map<Manifest | ProjectManifest, Place>()
  const take = <T extends Manifest | ProjectManifest>(read: ReadDocument<T>, list: T[], index: number): void => {
    if (read.ok) {
      list.push(read.value)
      places.set(read.value, placeAt(lines, offsetOf(documents[index] as Doc, ['name']) ?? 0))
    } else problems.push(...(documents.length > 1 ? read.problems.map((one) => inDocument(one, index)) : read.problems))
  }
  for (const [index, document] of documents.entries()) {
    if (kindOf(document, kind) === 'Project') take(judgeDocument(document, lines, projectSchema), projects, index)
    else take(judgeDocument(document, lines, manifestSchema), manifests, index)
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, manifests, projects, places }
}

const inDocument = (problem: ManifestProblem, index: number): ManifestProblem => ({
  ...problem,
  path: [`document ${index + 1}`, problem.path].filter(Boolean).join(': '),
})

const hasContent = (document: Doc): boolean =>
  document.errors.length > 0 ||
  !(document.contents === null || (isScalar(document.contents) && document.contents.value === null))

const kindOf = ({ contents }: Doc, fallback: ManifestKind): unknown =>
  (isMap(contents) ? contents.get('kind') : null) ?? fallback
