import { type Document, isScalar, type LineCounter, type ParsedNode, parseAllDocuments, parseDocument } from 'yaml'
import { resolveAliases } from './resolve-aliases.ts'
import { twoReadings } from './two-readings.ts'
import { repeatedKeys } from './unique-keys.ts'

export type Doc = Document.Parsed<ParsedNode>

/** The parser would emit its warnings on the process, which may be that of an application. */
const OPTIONS = { prettyErrors: false, logLevel: 'error', uniqueKeys: false, merge: true } as const

/** Reads one document. */
export const readYaml = (text: string, lineCounter?: LineCounter): Doc =>
  judged(parseDocument(text, { ...OPTIONS, ...(lineCounter && { lineCounter }) }))

/** Reads all documents of a text: YAML, or lines of JSON, as `--json` prints several. */
export const readAllYaml = (text: string, lineCounter: LineCounter): readonly Doc[] =>
  [...parseAllDocuments(asYaml(text), { ...OPTIONS, lineCounter })].map(judged)

/** Lines of JSON are no YAML without a separator. It goes into the line, so that lines keep their numbers. */
const asYaml = (text: string): string =>
  LINES_OF_JSON.test(text)
    ? text
        .split('\n')
        .map((line) => (line === '' ? line : `--- ${line}`))
        .join('\n')
    : text

/** Two objects or more, each in a line. No other YAML looks like that. */
const LINES_OF_JSON = /^(?:\{[^\n]*\}\r?\n)+\{[^\n]*\}\s*$/

/** An empty document, such as that before the first `---`, has none. */
export const hasContent = ({ contents, errors }: Doc): boolean =>
  errors.length > 0 || !(contents === null || (isScalar(contents) && contents.value === null))

function judged(document: Doc): Doc {
  const isSound = document.errors.length === 0
  const aliases = isSound ? resolveAliases(document) : []
  const isReadable = isSound && aliases.length === 0
  for (const error of [...repeatedKeys(document), ...aliases, ...(isReadable ? twoReadings(document) : [])])
    document.errors.push(error)
  return document
}
