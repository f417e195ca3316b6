import type { Refusal } from '../../client-model/index.ts'
import { inOneLine } from '../../core/errors.ts'
import { describeProblem, type Place, placesIn } from '../../manifest/index.ts'

/** The file and the position of a document. */
export interface Source {
  readonly file: string
  readonly text: string
  /** Its place among the documents of the file. */
  readonly index?: number
  /** The position where the document begins. */
  readonly place?: Place
}

/** e.g. `shop.yaml:12:1`. */
export const shownSource = ({ file, place }: Source): string =>
  describeProblem(shownFile(file), { ...place, path: '', message: '' })

export const shownFile = (file: string): string => (file === '-' ? '<stdin>' : file)

/** A refusal of the server, whose fields are found in the file: each of them with its line and column. */
export function atSource(refusal: Refusal, source: Source): Refusal {
  const { file, text, index } = source
  if (!refusal.fields?.length)
    return refusal.code === 'INVALID_INPUT'
      ? { ...refusal, message: `${shownSource(source)}: ${refusal.message}` }
      : refusal
  const placeOf = placesIn(text, index)
  const fields = refusal.fields.map((field) => ({
    ...field,
    path: describeProblem(shownFile(file), { ...placeOf(field.path), path: field.path, message: '' }),
  }))
  // The message repeats them.
  const message = refusal.message.replace(inOneLine(refusal.fields), () => inOneLine(fields))
  return { ...refusal, message, fields }
}
