import { isMap, isScalar } from 'yaml'
import { readYaml } from './read-yaml.ts'
import { writeYaml } from './write-yaml.ts'

/** Replaces the text between two offsets. */
export interface TextEdit {
  readonly from: number
  readonly to: number
  readonly insert: string
}

/** The value of a field at the top of a document; null when it cannot be read, or not be written. */
export function fieldsIn(text: string): (field: string) => string | null {
  const document = readYaml(text)
  const { contents, errors } = document
  return (field) => {
    if (errors.length > 0) return null
    if (contents === null) return ''
    if (!isMap(contents)) return null
    const value = contents.get(field, true)
    if (value === undefined) return ''
    return isScalar(value) ? String(value.value ?? '') : null
  }
}

/** The edit that gives the field this value; all other text stays, comments too. */
export function setField(text: string, field: string, value: string): TextEdit | null {
  const document = readYaml(text)
  if (document.errors.length > 0) return null
  const { contents } = document
  const written = writeYaml(value).trimEnd()
  if (contents === null) return { from: text.length, to: text.length, insert: `${field}: ${written}\n` }
  if (!isMap(contents)) return null
  const pair = contents.items.find(({ key }) => isScalar(key) && key.value === field)
  if (!pair) {
    const at = contents.range[0]
    if (contents.flow)
      return { from: at + 1, to: at + 1, insert: ` ${JSON.stringify(field)}: ${JSON.stringify(value)},` }
    return { from: at, to: at, insert: `${field}: ${written}\n` }
  }
  if (!isScalar(pair.value) || !pair.value.range || !isScalar(pair.key) || !pair.key.range) return null
  const [from, to] = pair.value.range
  // A key without a value has nothing behind it, not even a space.
  if (from === to) return { from: pair.key.range[1], to, insert: `: ${written}` }
  return { from, to, insert: contents.flow ? JSON.stringify(value) : written }
}
