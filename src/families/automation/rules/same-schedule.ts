import { sameJson } from '../../../core/json.ts'
import type { ScheduleSpec } from './spec.ts'

/** In these an empty list is as none. In `dependsOn` of a job it is not: without any, the jobs are a sequence. */
const EMPTY_IS_NONE: ReadonlySet<string> = new Set(['args', 'env', 'labels', 'qualifiers'])

/** True if both do the same, however much of it the inputs of their triggers say in words. */
export const sameSchedule = ({ run: a, ...before }: ScheduleSpec, { run: b, ...after }: ScheduleSpec): boolean =>
  sameJson(before, after) && sameJson(withoutEmpty(a), withoutEmpty(b))

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(
    ([key, of]) => of !== null && !(EMPTY_IS_NONE.has(key) && Array.isArray(of) && of.length === 0),
  )
  return Object.fromEntries(entries.map(([key, of]) => [key, withoutEmpty(of)]))
}
