import type { Paint } from '../terminal/paint.ts'
import { columns } from '../terminal/text.ts'

/** A label and its value, or several, one a line; an empty value is not printed. */
export type Field = readonly [label: string, value: string | readonly string[] | null | undefined]

/** One aligned line for each value. */
export function describeFields(fields: readonly Field[], paint: Paint): string[] {
  const width = Math.max(...fields.map(([label]) => columns(label)))
  return fields.flatMap(([label, value]) =>
    [value ?? []]
      .flat()
      .flatMap((one, i) => (one ? `${paint('dim', (i === 0 ? label : '').padEnd(width))}  ${one}` : [])),
  )
}

export const shownValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
