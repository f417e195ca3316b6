import { ImportProblem, isMap, listOf, textOf } from '../../../../cli/import/loose-values.ts'

/** Values of a Compose file, which has several ways to write most of them. */

/** An absolute path as a container has it. */
export const pathOf = (value: unknown): string => textOf(value).replace(/(?<=.)\/+$/, '')

/** `{ A: 1 }` and `[A=1]`. Null: it has no value. */
export const pairsOf = (value: unknown): readonly (readonly [name: string, value: string | null])[] =>
  isMap(value)
    ? Object.entries(value).map(([name, one]) => [name, one === null ? null : String(one)])
    : listOf(value).map((one) => {
        const [name = '', ...rest] = String(one).split('=')
        return [name, rest.length > 0 ? rest.join('=') : null]
      })

/** The words of a command: a list, or a text as a shell divides it. @throws ImportProblem */
export function wordsOf(value: unknown): readonly string[] {
  if (typeof value !== 'string') return listOf(value).map(textOf)
  const words: string[] = []
  const pattern = /\s*((?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*")+)/y
  const text = value.trimEnd()
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex
    const [, word] = pattern.exec(text) ?? []
    if (word === undefined)
      throw new ImportProblem(`the command has a quote that is not closed: ${text.slice(at, at + 40)}`)
    words.push(
      word.replace(/'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])/g, (_, single, double, escaped) =>
        String(single ?? escaped ?? String(double).replace(/\\(["\\$`])/g, '$1')),
      ),
    )
  }
  return words
}

const SIZE = /^(\d+(?:\.\d+)?)\s*([kmg]?)i?b?$/i
const UNITS = ['', 'k', 'm', 'g']
/** `1.5gb` as a size of this product, such as `1536m`; undefined: it is no size. */
export function sizeOf(value: unknown): string | undefined {
  const [, count, unit = ''] = SIZE.exec(textOf(value)) ?? []
  let size = Math.round(Number(count) * 1_024 ** UNITS.indexOf(unit.toLowerCase()))
  if (!(size > 0)) return undefined
  let power = 0
  for (; power < 3 && size % 1_024 === 0; power += 1) size /= 1_024
  return `${size}${UNITS[power]}`
}
