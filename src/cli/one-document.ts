import { type Document, isNode, LineCounter, type ParsedNode, parseDocument } from 'yaml'
import type { z } from 'zod'
import type { Io } from './io.ts'
import { describeProblem, type ManifestProblem } from './manifest.ts'
import { readInput } from './read-input.ts'
import { invalid, type Outcome, refused } from './refusal.ts'

interface Wanted<T> {
  readonly schema: z.ZodType<T>
  /** e.g. `a task`. */
  readonly what: string
}

/** Reads the one YAML or JSON document of a file; what is wrong with it is told with its place. */
export async function readOne<T>({ stdin }: Pick<Io, 'stdin'>, file: string, wanted: Wanted<T>): Promise<Outcome<T>> {
  const input = await readInput(file, stdin)
  if (!input.ok) return refused(invalid(input.message))
  const parsed = parseOne(input.text, wanted)
  if (parsed.ok) return { ok: true, value: parsed.value }
  const shown = file === '-' ? '<stdin>' : file
  const fields = parsed.problems.map((problem) => ({
    path: describeProblem(shown, { ...problem, message: '' }),
    message: problem.message,
  }))
  return refused(invalid(`${shown} is not valid.`, fields))
}

type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

/** Reads one YAML document, or JSON, which is YAML too. Every problem is reported, with its place. */
function parseOne<T>(text: string, { schema, what }: Wanted<T>): Parsed<T> {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const problem = (path: string, message: string, offset: number | undefined): ManifestProblem => {
    if (offset === undefined) return { path, message }
    const { line, col: column } = lines.linePos(offset)
    return { path, message, line, column }
  }
  const [error] = document.errors
  if (error?.code === 'MULTIPLE_DOCS')
    return { ok: false, problems: [{ path: '', message: `It holds several documents: ${what} is one.` }] }
  if (document.errors.length > 0) {
    return { ok: false, problems: document.errors.map(({ message, pos }) => problem('', message, pos[0])) }
  }
  if (document.contents === null) return { ok: false, problems: [{ path: '', message: 'It holds no document.' }] }
  const read = contentsOf(document)
  if (!read.ok) return { ok: false, problems: [{ path: '', message: read.message }] }
  const { success, data, error: unfit } = schema.safeParse(read.value)
  if (success) return { ok: true, value: data }
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
