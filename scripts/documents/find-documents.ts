import { globSync } from 'node:fs'
import { type Modules, type Node, walk } from './constants.ts'

/** The text of one call of `gql`, or of a fragment that such a text is built from. */
export interface FoundDocument {
  readonly text: string
  readonly file: string
  readonly line: number
  /** A fixture: the line above says `@ts-expect-error`, since the document is wrong. */
  readonly isExpectedToFail: boolean
}
export interface Finding {
  readonly documents: readonly FoundDocument[]
  /** Calls whose text only the running program knows. */
  readonly problems: readonly string[]
}

const CALL = /\bgql\(/
/** A constant that is a fragment has a type of its own. */
const FRAGMENT = /^\s*fragment\s/

/** All documents of the project's files that match these patterns. */
export function findDocuments(modules: Modules, root: string, patterns: readonly string[]): Finding {
  const documents: FoundDocument[] = []
  const problems: string[] = []
  for (const file of globSync(patterns, { cwd: root }).sort()) {
    const module = modules.read(file)
    if (!CALL.test(module.source)) continue
    walk(module.program, (node) => {
      const argument = argumentOf(node)
      if (!argument) return
      const place = { file, ...placeOf(module.source, node.start) }
      const text = modules.evaluate(argument, module, (part) => {
        if (FRAGMENT.test(part)) documents.push({ text: part, ...place })
      })
      if (text !== undefined) documents.push({ text, ...place })
      else if (!place.isExpectedToFail) problems.push(`${file}:${place.line}: the text of gql() must be a constant.`)
    })
  }
  return { documents, problems }
}

function argumentOf(node: Node): Node | undefined {
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.callee.name !== 'gql') return
  return node.arguments[0]
}

function placeOf(source: string, start: number): Pick<FoundDocument, 'line' | 'isExpectedToFail'> {
  const lines = source.slice(0, start).split('\n')
  return { line: lines.length, isExpectedToFail: /@ts-expect-error/.test(lines.at(-2) ?? '') }
}
