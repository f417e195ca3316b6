/** Values of files that other tools read, and that may hold anything. */

export type Fields = Readonly<Record<string, unknown>>

/** Says why a file cannot be imported, as the end of a sentence. */
export class ImportProblem extends Error {}

export const isMap = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const mapOf = (value: unknown): Fields => (isMap(value) ? value : {})
export const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value))
export const isTrue = (value: unknown): boolean => textOf(value) === 'true'
/** A list, or its only member. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]

/** A list or map if it has something, to be spread into another map. */
export const some = (key: string, value: readonly unknown[] | Fields | string): Fields =>
  (typeof value === 'object' ? Object.keys(value) : value).length > 0 ? { [key]: value } : {}

/** As close to a text as a name can be. */
export const nameFrom = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z_]/, 's-$&')
    .slice(0, 63)

/** With all its texts changed; keys stay. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change))
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapTexts(one, change)]))
}

/** `${` begins an expression in a manifest. */
export const escaped = (value: unknown): unknown => mapTexts(value, (text) => text.replaceAll('${', () => '$${'))

const UNITS_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
/** Milliseconds of `1m30s`; undefined: it is no duration. */
export function durationOf(value: unknown): number | undefined {
  const text = textOf(value)
  if (!/^(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))+$/.test(text)) return undefined
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(us|ms|s|m|h)/g)]
  return Math.round(parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS_MS[unit] ?? 0), 0))
}
