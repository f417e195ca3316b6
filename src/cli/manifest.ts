import { type Document, isScalar, LineCounter, type ParsedNode, parseAllDocuments } from 'yaml'
import { type Manifest, manifestSchema } from './manifest-schema.ts'

/** What is wrong in a file, and where. `line` and `column` start at 1. */
export interface ManifestProblem {
  readonly path: string
  readonly message: string
  readonly line?: number
  readonly column?: number
}
export type ParsedManifests =
  | { readonly ok: true; readonly manifests: readonly Manifest[] }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

type Doc = Document.Parsed<ParsedNode>

/** Reads a file of YAML documents, or JSON, which is YAML too. Every problem of every document is reported together. */
export function parseManifests(text: string): ParsedManifests {
  const lines = new LineCounter()
  const documents = [...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })].filter(hasContent)
  if (documents.length === 0) return { ok: false, problems: [{ path: '', message: 'The file holds no document.' }] }
  const several = documents.length > 1
  const read = documents.map((document, index) => readDocument(document, lines, several ? `document ${index + 1}` : ''))
  const problems = read.flatMap((one) => ('problems' in one ? one.problems : []))
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, manifests: read.flatMap((one) => ('manifest' in one ? [one.manifest] : [])) }
}

const hasContent = (document: Doc): boolean =>
  document.errors.length > 0 ||
  !(document.contents === null || (isScalar(document.contents) && document.contents.value === null))

type Read = { readonly manifest: Manifest } | { readonly problems: readonly ManifestProblem[] }

function readDocument(document: Doc, lines: LineCounter, where: string): Read {
  if (document.errors.length > 0) {
    return {
      problems: document.errors.map(({ message, pos }) => ({ path: where, message, ...place(lines, pos[0]) })),
    }
  }
  const value = readContents(document)
  if ('problem' in value) return { problems: [{ path: where, message: value.problem }] }
  const parsed = manifestSchema.safeParse(value.value)
  if (parsed.success) return { manifest: parsed.data }
  return {
    problems: parsed.error.issues.map(({ path, message }) => ({
      path: [where, path.join('.')].filter(Boolean).join(': '),
      message,
      ...place(lines, offsetOf(document, path)),
    })),
  }
}

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
