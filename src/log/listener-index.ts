import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports/phase-change.ts'
import { matches } from './filter.ts'

/** Fields that queries are indexed by; a change has one value of each. */
type Sort = 'object' | 'root' | 'to' | 'project' | 'projectId' | 'kind' | 'all'

interface Entry<L> {
  readonly query: PhaseChangeQuery
  readonly listener: L
  readonly keys: Keys
}
interface Keys {
  readonly sort: Sort
  readonly values: ReadonlySet<string>
}

/**
 * Listeners by their queries. Each query is indexed by the narrowest field that it names, so that a change is matched only
 * against queries that share a value with it, however many there are.
 */
export class ListenerIndex<L> {
  readonly #buckets = new Map<Sort, Map<string, Set<Entry<L>>>>()
  readonly #entries = new Map<L, Entry<L>>()

  get size(): number {
    return this.#entries.size
  }
  listeners(): readonly L[] {
    return [...this.#entries.keys()]
  }

  add(query: PhaseChangeQuery, listener: L): void {
    const entry = { query, listener, keys: keysOf(query) }
    this.#entries.set(listener, entry)
    const { sort, values } = entry.keys
    const buckets = this.#buckets.get(sort) ?? new Map<string, Set<Entry<L>>>()
    this.#buckets.set(sort, buckets)
    for (const value of values) {
      const bucket = buckets.get(value)
      if (bucket) bucket.add(entry)
      else buckets.set(value, new Set([entry]))
    }
  }

  delete(listener: L): void {
    const entry = this.#entries.get(listener)
    if (!entry) return
    this.#entries.delete(listener)
    const { sort, values } = entry.keys
    const buckets = this.#buckets.get(sort)
    for (const value of values) {
      const bucket = buckets?.get(value)
      bucket?.delete(entry)
      if (bucket?.size === 0) buckets?.delete(value)
    }
    if (buckets?.size === 0) this.#buckets.delete(sort)
  }

  /** The matching changes of each listener that has any, in order. */
  route(changes: readonly PhaseChangeRecord[]): ReadonlyMap<L, readonly PhaseChangeRecord[]> {
    const routed = new Map<L, PhaseChangeRecord[]>()
    for (const change of changes) {
      for (const [sort, buckets] of this.#buckets) {
        for (const { query, listener } of buckets.get(valueIn(change, sort)) ?? []) {
          if (!matches(query, change)) continue
          const own = routed.get(listener)
          if (own) own.push(change)
          else routed.set(listener, [change])
        }
      }
    }
    return routed
  }
}

/** All keys are of one sort, of which a change has one value: so no listener is found twice. */
function keysOf({ objectId, rootId, project, projects, to, kinds }: PhaseChangeQuery): Keys {
  if (objectId !== undefined) return { sort: 'object', values: new Set([objectId]) }
  if (rootId !== undefined) return { sort: 'root', values: new Set([rootId]) }
  if (to !== undefined) return { sort: 'to', values: new Set(to) }
  if (project !== undefined) return { sort: 'project', values: new Set([project]) }
  if (kinds !== undefined) return { sort: 'kind', values: new Set(kinds) }
  if (projects !== null) return { sort: 'projectId', values: new Set(projects) }
  return { sort: 'all', values: new Set(['']) }
}

function valueIn({ objectId, rootId, to, projectId, projectName, kind }: PhaseChangeRecord, sort: Sort): string {
  switch (sort) {
    case 'object':
      return objectId
    case 'root':
      return rootId
    case 'to':
      return to
    case 'project':
      return projectName
    case 'projectId':
      return projectId ?? ''
    case 'kind':
      return kind
    case 'all':
      return ''
  }
}
