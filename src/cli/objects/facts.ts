import type { Paint } from '../terminal/paint.ts'
import { columns } from '../terminal/text.ts'

/** Something to say of an object: a label, and what is said; nothing when that is empty. */
export type Fact = readonly [label: string, value: string | null | undefined]

/** One aligned line for each fact, what is empty left out. Values are taken as they are: make them safe first. */
export function describeFacts(facts: readonly Fact[], paint: Paint): string[] {
  const width = Math.max(...facts.map(([label]) => columns(label)))
  return facts.flatMap(([label, value]) => (value ? [`${paint('dim', label.padEnd(width))}  ${value}`] : []))
}
