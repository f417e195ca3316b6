import { type Document, isNode, LineCounter, type ParsedNode, parseDocument } from 'yaml'
import type { ManifestProblem } from '../manifest.ts'
import { type TaskManifest, taskSchema } from './schema.ts'

export type ParsedTask =
  | { readonly ok: true; readonly manifest: TaskManifest }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

/** Reads one YAML document, or JSON, which is YAML too. Every problem is reported, with its place. */
export function parseTask(text: string): ParsedTask {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const problem = (path: string, message: string, offset: number | undefined): ManifestProblem => {
    if (offset === undefined) return { path, message }
    const { line, col: column } = lines.linePos(offset)
    return { path, message, line, column }
  }
  const [error] = document.errors
  if (error?.code === 'MULTIPLE_DOCS')
    return { ok: false, problems: [{ path: '', message: 'It holds several documents: a task is one.' }] }
  if (document.errors.length > 0) {
    return { ok: false, problems: document.errors.map(({ message, pos }) => problem('', message, pos[0])) }
  }
  if (document.contents === null) return { ok: false, problems: [{ path: '', message: 'It holds no document.' }] }
  const read = contentsOf(document)
  if (!read.ok) return { ok: false, problems: [{ path: '', message: read.message }] }
  const { success, data, error: unfit } = taskSchema.safeParse(read.value)
  if (success) return { ok: true, manifest: data }
  return {
    ok: false,
    problems: unfit.issues.map(({ path, message }) => problem(path.join('.'), message, offsetOf(document, path))),
  }
}

type Doc = Document.Parsed<ParsedNode>

function contentsOf(
  document: Doc,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string } {
  try {
    return { ok: true, value: document.toJS() }
  } catch (error) {
    // Unknown aliases and alias bombs show up only here.
    return { ok: false, message: error instanceof Error ? error.message : 'cannot be read' }
  }
}

/** Of the node at the path, or of its nearest parent that exists: a missing field is reported where it should stand. */
function offsetOf(document: Doc, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return document.contents?.range[0]
}
