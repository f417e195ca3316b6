import { isPortableText } from '../core/portable.ts'
import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { BATCH_TEXT_SQL, containsAll, partsOf, TEXT_SQL } from './words.ts'

/** The live filter. `filterSql` is its equivalent in SQL; both use immutable columns only. */
export function matches(query: PhaseChangeQuery, record: PhaseChangeRecord): boolean {
  return (
    (query.rootId === undefined || record.rootId === query.rootId) &&
    (query.objectId === undefined || record.objectId === query.objectId) &&
    (query.includeRejected || !record.rejected) &&
    (query.projects === null || (record.projectId !== null && query.projects.includes(record.projectId))) &&
    (query.project === undefined || record.projectName === query.project) &&
    (query.kinds === undefined || query.kinds.includes(record.kind)) &&
    (query.to === undefined || query.to.includes(record.to)) &&
    (query.actors === undefined || query.actors.includes(record.actor)) &&
    (query.onlyRejected !== true || record.rejected) &&
    (query.since === undefined || record.at >= query.since) &&
    (query.until === undefined || record.at < query.until) &&
    (query.words === undefined || containsAll(record, query.words))
  )
}

/** The parameters of one statement; `add` returns the placeholder. */
export class Params {
  readonly values: unknown[] = []
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Ids are compared in this form only, so that text here and uuid in Postgres agree. */
const CANONICAL_UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

const sameId = (column: string, id: string, params: Params): string =>
  CANONICAL_UUID.test(id) ? `${column} = ${params.add(id)}::uuid` : 'false'

/** Conditions on `phase_change c`, to be joined with `and`; empty when every change matches. */
export function filterSql(query: PhaseChangeQuery, params: Params): readonly string[] {
  const conditions: string[] = []
  if (query.rootId !== undefined) conditions.push(sameId('c.root_id', query.rootId, params))
  if (query.objectId !== undefined) conditions.push(sameId('c.object_id', query.objectId, params))
  if (!query.includeRejected) conditions.push('not c.rejected')
  if (query.projects !== null) {
    conditions.push(`c.project_id = any(${params.add(query.projects)}::uuid[])`)
  }
  if (query.project !== undefined) {
    conditions.push(isPortableText(query.project) ? `c.project_name = ${params.add(query.project)}` : 'false')
  }
  if (query.kinds !== undefined) conditions.push(`c.kind = any(${params.add(query.kinds)}::object_kind[])`)
  if (query.to !== undefined) conditions.push(`c."to" = any(${params.add(query.to)}::phase[])`)
  if (query.actors !== undefined) conditions.push(`c.actor = any(${params.add(query.actors)}::actor[])`)
  if (query.onlyRejected) conditions.push('c.rejected')
  if (query.since !== undefined) conditions.push(`c."at" >= ${params.add(query.since)}::timestamptz`)
  if (query.until !== undefined) conditions.push(`c."at" < ${params.add(query.until)}::timestamptz`)
  if (query.words !== undefined) conditions.push(containsAllSql(TEXT_SQL, query.words, params))
  return conditions
}

/** `offset 0` keeps the planner from making the text once for each word. */
export const containsAllSql = (text: string, words: readonly string[], params: Params): string =>
  words.every(isPortableText)
    ? `(select coalesce(bool_and(strpos(t.said, w.word collate "C") > 0), true)
        from (select ${text} as said offset 0) t cross join unnest(${params.add(words)}::text[]) w(word))`
    : 'false'

/**
 * Conditions on `log_content p` that each batch with a match fulfils, so that other batches are not unpacked. They use only
 * the columns that many changes of a batch share, and ignore refusals: few batches contain nothing else.
 */
export function batchFilterSql(query: PhaseChangeQuery, params: Params): readonly string[] {
  const conditions: string[] = []
  if (query.projects !== null) {
    conditions.push(`p.project_id = any(${params.add(query.projects)}::uuid[])`)
  }
  if (query.project !== undefined && isPortableText(query.project)) {
    conditions.push(`${params.add(query.project)} = any(p.project_names)`)
  }
  if (query.kinds !== undefined) conditions.push(`p.kinds && ${params.add(query.kinds)}::object_kind[]`)
  if (query.to !== undefined) conditions.push(`p."to" && ${params.add(query.to)}::phase[]`)
  if (query.actors !== undefined) conditions.push(`p.actors && ${params.add(query.actors)}::actor[]`)
  if (query.onlyRejected) conditions.push('true = any(p.rejected)')
  if (query.since !== undefined) conditions.push(`${params.add(query.since)}::timestamptz <= any(p."at")`)
  if (query.until !== undefined) conditions.push(`${params.add(query.until)}::timestamptz > any(p."at")`)
  const parts = [...new Set(query.words?.flatMap(partsOf))]
  if (parts.length > 0) conditions.push(containsAllSql(BATCH_TEXT_SQL, parts, params))
  return conditions
}
