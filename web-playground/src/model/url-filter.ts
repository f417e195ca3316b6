import { type Pair, pairOf, textOf, withPair } from './pairs.ts'

/** How one field of a filter stands in the address. */
export interface Codec<T> {
  /** Its name there. */
  readonly name: string
  /** An empty text, and one that is no value of the field, is its default. */
  read(text: string): T
  /** The default is an empty text, which the address leaves out. */
  write(value: T): string
}

/** The filter of a page, as the address of the page has it. */
export interface UrlFilter<F> {
  readonly fields: { readonly [Name in keyof F]: Codec<F[Name]> }
  /** The defaults: everything is shown. */
  readonly all: F
  read(search: string): F
  /** Starts with `?`, or is empty. */
  write(filter: Partial<F>): string
}
export type FilterOf<T> = T extends UrlFilter<infer F> ? F : never

export function urlFilter<F extends object>(fields: UrlFilter<F>['fields']): UrlFilter<F> {
  const names = Object.keys(fields) as (keyof F)[]
  const read = (search: string): F => {
    const params = new URLSearchParams(search)
    return Object.fromEntries(names.map((name) => [name, fields[name].read(params.get(fields[name].name) ?? '')])) as F
  }
  const all = read('')
  const write = (filter: Partial<F>): string => {
    const written: F = { ...all, ...filter }
    const entries = names.map((name) => [fields[name].name, fields[name].write(written[name])])
    const query = queryOf(new URLSearchParams(entries.filter(([, text]) => text)))
    return query ? `?${query}` : ''
  }
  return { fields, all, read, write }
}

/** As people read it: a value may have commas and equals signs as they are. */
export const queryOf = (params: URLSearchParams): string =>
  params.toString().replaceAll('%2C', ',').replaceAll('%3D', '=')

const asIs = (value: string | null): string => value ?? ''

/** No more than the server takes. */
export const text = (name: string, most = 255): Codec<string> => ({
  name,
  read: (value) => value.slice(0, most),
  write: asIs,
})
export const word = (name: string): Codec<string> => ({
  name,
  read: (value) => (/^[A-Za-z_]+$/.test(value) ? value : ''),
  write: asIs,
})
export const words = (name: string): Codec<readonly string[]> => ({
  name,
  read: (value) => value.split(',').filter((one) => /^[A-Z_]+$/.test(one)),
  write: (list) => list.join(','),
})
/** Labels, e.g. `app=shop,tier=web`; a comma in a value is escaped. */
export const pairs = (name: string): Codec<readonly Pair[]> => ({
  name,
  read: (value) =>
    value
      .split(',')
      .flatMap((one) => pairOf(one.replaceAll('%2C', ',').replaceAll('%25', '%')) ?? [])
      .reduce(withPair, [] as readonly Pair[])
      .slice(0, MOST_PAIRS),
  write: (list) => list.map((pair) => textOf(pair).replaceAll(/[%,]/g, encodeURIComponent)).join(','),
})
/** No more than the server takes. */
const MOST_PAIRS = 64
/** Null: any. */
export const oneOf = <T extends string>(name: string, all: readonly T[]): Codec<T | null> => ({
  name,
  read: (value) => all.find((one) => one === value) ?? null,
  write: asIs,
})
export const flag = (name: string): Codec<boolean> => ({
  name,
  read: (value) => value === 'yes',
  write: (isSet) => (isSet ? 'yes' : ''),
})
/** Null: both. */
export const either = (name: string): Codec<boolean | null> => ({
  name,
  read: (value) => (value === 'yes' ? true : value === 'no' ? false : null),
  write: (value) => (value === null ? '' : value ? 'yes' : 'no'),
})
/** ISO 8601, or empty. */
export const time = (name: string): Codec<string> => ({
  name,
  read: (value) => {
    const ms = Date.parse(value)
    return Number.isNaN(ms) ? '' : new Date(ms).toISOString()
  },
  write: asIs,
})
