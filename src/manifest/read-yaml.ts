import { type Document, type LineCounter, type ParsedNode, parseAllDocuments, parseDocument } from 'yaml'
import { repeatedKeys } from './unique-keys.ts'

export type Doc = Document.Parsed<ParsedNode>

/** The parser would emit its warnings on the process, which may be that of an application. */
const OPTIONS = { prettyErrors: false, logLevel: 'error', uniqueKeys: false } as const

/** Reads one document. */
export const readYaml = (text: string, lineCounter?: LineCounter): Doc =>
  withUniqueKeys(parseDocument(text, { ...OPTIONS, ...(lineCounter && { lineCounter }) }))

/** Reads all documents of a text. */
export const readAllYaml = (text: string, lineCounter: LineCounter): readonly Doc[] =>
  [...parseAllDocuments(text, { ...OPTIONS, lineCounter })].map(withUniqueKeys)

function withUniqueKeys(document: Doc): Doc {
  for (const error of repeatedKeys(document)) document.errors.push(error)
  return document
}
