import { Document, visit } from 'yaml'
import { replaceHidden } from '../core/hidden-text.ts'

/**
 * YAML that readers of version 1.1 and of version 1.2 read alike: texts such as `yes` and `0400` have quotes. Hidden characters
 * are escaped, which changes no value; line breaks and tabs stay.
 */
export function writeYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && escaped(node.value) !== node.value) node.type = 'QUOTE_DOUBLE'
    },
  })
  return escaped(document.toString({ lineWidth: 0 }))
}

/** In quotes. */
const escaped = (text: string): string =>
  replaceHidden(text, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`,
  )
