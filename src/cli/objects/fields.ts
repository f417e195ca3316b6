import type { Paint } from '../terminal/paint.ts'
import { columns } from '../terminal/text.ts'

/** Something to say of an object: a label, and what is said; nothing when that is empty. */
export type Field = readonly [label: string, value: string | null | undefined]

/** One aligned line for each fact, what is empty left out. Values are taken as they are: make them safe first. */
export function describeFields(fields: readonly Field[], paint: Paint): string[] {
  const width = Math.max(...fields.map(([label]) => columns(label)))
  return fields.flatMap(([label, value]) => (value ? [`${paint('dim', label.padEnd(width))}  ${value}`] : []))
}
