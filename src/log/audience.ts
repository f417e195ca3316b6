import type { PhaseChangeQuery, PhaseChangeRecord } from '../core/ports.ts'
import { matches } from './filter.ts'

interface Entry<L> {
  readonly query: PhaseChangeQuery
  readonly listener: L
  readonly keys: readonly string[]
}

/**
 * Who wants to hear what. Each query is filed under the narrowest thing that it names, so that a change is held only
 * against queries that share something with it, however many there are.
 */
export class Audience<L> {
  readonly #shelves = new Map<string, Set<Entry<L>>>()
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
    for (const key of entry.keys) {
      const shelf = this.#shelves.get(key)
      if (shelf) shelf.add(entry)
      else this.#shelves.set(key, new Set([entry]))
    }
  }

  delete(listener: L): void {
    const entry = this.#entries.get(listener)
    if (!entry) return
    this.#entries.delete(listener)
    for (const key of entry.keys) {
      const shelf = this.#shelves.get(key)
      shelf?.delete(entry)
      if (shelf?.size === 0) this.#shelves.delete(key)
    }
  }

  /** What each listener that is concerned has to hear, in order. */
  route(changes: readonly PhaseChangeRecord[]): ReadonlyMap<L, readonly PhaseChangeRecord[]> {
    const routed = new Map<L, PhaseChangeRecord[]>()
    for (const change of changes) {
      for (const key of placesOf(change)) {
        for (const { query, listener } of this.#shelves.get(key) ?? []) {
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

const EVERYTHING = '*'

/** All keys are of one sort, and a change has one of each sort: so nobody is found twice. */
function keysOf({ objectId, rootId, project, projects, to, kinds }: PhaseChangeQuery): readonly string[] {
  if (objectId !== undefined) return [`object ${objectId}`]
  if (rootId !== undefined) return [`root ${rootId}`]
  if (to !== undefined) return [...new Set(to)].map((phase) => `to ${phase}`)
  if (project !== undefined) return [`project ${project}`]
  if (kinds !== undefined) return [...new Set(kinds)].map((kind) => `kind ${kind}`)
  if (projects !== null) return [...new Set(projects)].map((name) => `project ${name}`)
  return [EVERYTHING]
}

const placesOf = ({ objectId, rootId, to, projectName, kind }: PhaseChangeRecord): readonly string[] => [
  `object ${objectId}`,
  `root ${rootId}`,
  `to ${to}`,
  `project ${projectName}`,
  `kind ${kind}`,
  EVERYTHING,
]
