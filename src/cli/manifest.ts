import { type Document, isScalar, LineCounter, type ParsedNode, parseAllDocuments } from 'yaml'
import { type Manifest, manifestSchema } from './manifest-schema.ts'
import { type ProjectManifest, projectSchema } from './projects/schema.ts'

/** What is wrong in a file, and where. `line` and `column` start at 1. */
export interface ManifestProblem {
  readonly path: string
  readonly message: string
  readonly line?: number
  readonly column?: number
}
export type ParsedManifests =
  | { readonly ok: true; readonly manifests: readonly Manifest[]; readonly projects: readonly ProjectManifest[] }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

type Doc = Document.Parsed<ParsedNode>

/** What a document is. */
export type ManifestKind = 'Installation' | 'Project'

/**
 * Reads a file of YAML documents, or JSON, which is YAML too. Every problem of every document is reported together.
 * A document without `kind` is of the one given.
 */
export function parseManifests(text: string, kind: ManifestKind = 'Installation'): ParsedManifests {
  const lines = new LineCounter()
  const documents = [...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })].filter(hasContent)
  if (documents.length === 0) return { ok: false, problems: [{ path: '', message: 'The file holds no document.' }] }
  const several = documents.length > 1
  const read = documents.map((document, index) =>
    readDocument(document, { lines, where: several ? `document ${index + 1}` : '', kind }),
  )
  const problems = read.flatMap((one) => ('problems' in one ? one.problems : []))
  if (problems.length > 0) return { ok: false, problems }
  return {
    ok: true,
    manifests: read.flatMap((one) => ('manifest' in one ? [one.manifest] : [])),
    projects: read.flatMap((one) => ('project' in one ? [one.project] : [])),
  }
}

const hasContent = (document: Doc): boolean =>
  document.errors.length > 0 ||
  !(document.contents === null || (isScalar(document.contents) && document.contents.value === null))

type Read =
  | { readonly manifest: Manifest }
  | { readonly project: ProjectManifest }
  | { readonly problems: readonly ManifestProblem[] }
interface Reading {
  readonly lines: LineCounter
  /** Which of several documents; empty when it is the only one. */
  readonly where: string
  readonly kind: ManifestKind
}

function readDocument(document: Doc, { lines, where, kind }: Reading): Read {
  if (document.errors.length > 0) {
    return {
      problems: document.errors.map(({ message, pos }) => ({ path: where, message, ...place(lines, pos[0]) })),
    }
  }
  const value = readContents(document)
  if ('problem' in value) return { problems: [{ path: where, message: value.problem }] }
  const read = judge(value.value, kind)
  if (!('issues' in read)) return read
  return {
    problems: read.issues.map(({ path, message }) => ({
      path: [where, path.join('.')].filter(Boolean).join(': '),
      message,
      ...place(lines, offsetOf(document, path)),
    })),
  }
}

function judge(value: unknown, fallback: ManifestKind): Exclude<Read, { problems: unknown }> | Unfit {
  if (kindOf(value, fallback) === 'Project') {
    const { success, data, error } = projectSchema.safeParse(value)
    return success ? { project: data } : error
  }
  const { success, data, error } = manifestSchema.safeParse(value)
  return success ? { manifest: data } : error
}
type Unfit = { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] }

const kindOf = (value: unknown, fallback: ManifestKind): unknown =>
  typeof value === 'object' && value !== null && 'kind' in value ? value.kind : fallback

function readContents(document: Doc): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: document.toJS() }
  } catch (error) {
    // Unknown aliases and alias bombs show up only here.
    return { problem: error instanceof Error ? error.message : 'cannot be read' }
  }
}

const place = (lines: LineCounter, offset: number | undefined): { line?: number; column?: number } => {
  if (offset === undefined) return {}
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

/** The node at the path, or its nearest parent that exists: a missing field is reported where it should stand. */
function offsetOf(document: Doc, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    const offset = startOf(length === 0 ? document.contents : node)
    if (offset !== undefined) return offset
  }
  return undefined
}

function startOf(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return undefined
  const start: unknown = node.range[0]
  return typeof start === 'number' ? start : undefined
}

/** e.g. `shop.yaml:12:5: spec.deployItems.0.type: Expected a string`. */
export const describeProblem = (file: string, { path, message, line, column }: ManifestProblem): string =>
  [line === undefined ? file : `${file}:${line}:${column ?? 1}`, path, message].filter(Boolean).join(': ')
