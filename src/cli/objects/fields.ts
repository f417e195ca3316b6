import type { Paint } from '../terminal/paint.ts'
import { columns } from '../terminal/text.ts'

/** A label and its value; an empty value is not printed. */
export type Field = readonly [label: string, value: string | null | undefined]

/** One aligned line for each field with a value. */
export function describeFields(fields: readonly Field[], paint: Paint): string[] {
  const width = Math.max(...fields.map(([label]) => columns(label)))
  return fields.flatMap(([label, value]) => (value ? [`${paint('dim', label.padEnd(width))}  ${value}`] : []))
}

export const shownValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
