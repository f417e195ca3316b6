import { Document, isDocument, isNode, visit } from 'yaml'
import { replaceHidden } from '../core/hidden-text.ts'

/** A comment before the value at a path, or before the document. */
export interface YamlComment {
  readonly path: readonly (string | number)[]
  readonly text: string
}

/**
 * YAML that readers of version 1.1 and of version 1.2 read alike: texts such as `yes` and `0400` have quotes. Hidden characters
 * are escaped, which changes no value; line breaks and tabs stay.
 */
export function writeYaml(value: unknown, comments: readonly YamlComment[] = []): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Scalar(_, node) {
      const { value: text } = node
      if (typeof text === 'string' && (escaped(text) !== text || IS_BLANK.test(text))) node.type = 'QUOTE_DOUBLE'
    },
  })
  for (const { path, text } of comments) {
    const node = path.length === 0 ? document : document.getIn(path, true)
    if (text !== '' && (isDocument(node) || isNode(node))) node.commentBefore = text
  }
  return escaped(document.toString({ lineWidth: 0 }))
}

/** The fields that have a value: neither null nor empty. */
export const withoutEmpty = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && !(typeof value === 'object' && Object.keys(value as object).length === 0),
    ),
  )

/** Nothing but blanks and line breaks: as a block it would lose the blanks of its first line. */
const IS_BLANK = /^\s+$/

/** In quotes. */
const escaped = (text: string): string =>
  replaceHidden(text, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`,
  )
