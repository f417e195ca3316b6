import { type CursorPlace, choicesOf, cursorPlaces, fieldsBelow, type JsonSchema, partAt } from 'phaseline/manifest'

/** A part of the JSON Schema of documents. */
export interface DescribedPart {
  readonly part: JsonSchema
  readonly definitions: Readonly<Record<string, JsonSchema>>
}

/** A key, or a value, that may be written at the cursor. */
export interface Suggestion {
  readonly label: string
  /** In words; of a value, empty. */
  readonly type: string
  readonly description: string
  readonly isRequired: boolean
  /** The text that replaces the word. */
  readonly text: string
}
export interface Suggestions {
  /** The offset at which the word begins. */
  readonly from: number
  /** Required keys first, then in the order of the schema. */
  readonly options: readonly Suggestion[]
}

/** All that may stand at the cursor, whatever the word before it is. */
export function suggestionsAt(text: string, offset: number, schema: DescribedPart): Suggestions | null {
  for (const place of cursorPlaces(text, offset)) {
    const options = optionsAt(place, text, schema)
    if (options.length > 0) return { from: place.from, options }
  }
  return null
}

function optionsAt(
  place: CursorPlace,
  text: string,
  { part: root, definitions }: DescribedPart,
): readonly Suggestion[] {
  const found = partAt(root, definitions, place.path)
  if ('wrong' in found) return []
  const at = choicesOf(found.part, definitions)
  const parts = place.isInList ? at.flatMap(({ items }) => (items ? choicesOf(items, definitions) : [])) : at
  if (place.as === 'value') return parts.flatMap((one) => valuesOf(one, found.part))
  const column = place.from - (text.lastIndexOf('\n', place.from - 1) + 1)
  return parts
    .filter(({ properties }) => properties)
    .flatMap((one) =>
      fieldsBelow(one, definitions, 1).map((field) => ({ ...field, value: one.properties?.[field.path] })),
    )
    .filter(({ path }) => !place.keys.includes(path))
    .map(({ path: label, type, description, required: isRequired, value }) => {
      const below = belowKey(choicesOf(value ?? {}, definitions))
      return { label, type, description, isRequired, text: keyText(label, place, { column, below }) }
    })
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired))
}

const valuesOf = (choice: JsonSchema, { description = '' }: JsonSchema): readonly Suggestion[] => {
  const { enum: values = choice.const === undefined ? [] : [choice.const], type, enumDescriptions } = choice
  return (type === 'boolean' ? [true, false] : values).map((value, i) => ({
    label: String(value),
    text: String(value),
    type: '',
    description: enumDescriptions?.[i] || description,
    isRequired: false,
  }))
}

/** The beginning of the line below a key; null: its value stands in the same line. */
function belowKey(choices: readonly JsonSchema[]): '' | '- ' | null {
  const isMap = ({ properties, additionalProperties }: JsonSchema) =>
    properties !== undefined || typeof additionalProperties === 'object'
  if (choices.length === 0 || !choices.every((one) => one.items || isMap(one))) return null
  return choices.some(({ items }) => items) ? '- ' : ''
}

function keyText(
  key: string,
  { as, hasRoomBelow, isComplete }: CursorPlace,
  { column, below }: { readonly column: number; readonly below: '' | '- ' | null },
): string {
  if (isComplete) return key
  const start = as === 'entry' ? '- ' : ''
  if (below === null || !hasRoomBelow) return `${start}${key}: `
  return `${start}${key}:\n${' '.repeat(column + start.length + 2)}${below}`
}
