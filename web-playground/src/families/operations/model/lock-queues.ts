/** Holders and waiters of resources, and jobs that block others. */

export interface LockObject {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly root: { readonly id: string; readonly name: string }
  readonly project: { readonly name: string }
}
/** A lock as the API returns it; `object` is null once the job is gone. */
export interface Lock {
  readonly resource: string
  readonly mode: string
  readonly held: boolean
  /** From 1, among the waiters of the resource; null: the job holds it. */
  readonly position: number | null
  readonly declaredAt: string
  readonly grantedAt: string | null
  readonly object: LockObject | null
}
export interface Waiter extends Lock {
  /** Null: the resource is free for the job, which waits for another one that it needs at the same time. */
  readonly behind: readonly Lock[] | null
}
export interface Resource {
  readonly name: string
  readonly holders: readonly Lock[]
  /** In the order in which they are served. */
  readonly queue: readonly Waiter[]
}
/** A job that others wait for. */
export interface HoldUp {
  readonly object: LockObject
  readonly resources: readonly string[]
  /** Number of jobs that wait for it, directly or through others. */
  readonly waiting: number
  /** True if the job waits for no lock itself: it is the cause. */
  readonly isRoot: boolean
}

/** Resources with waiters first, the longest queue first. */
export function resourcesOf(locks: readonly Lock[]): readonly Resource[] {
  const byName = new Map<string, Lock[]>()
  for (const lock of locks) {
    const same = byName.get(lock.resource)
    if (same) same.push(lock)
    else byName.set(lock.resource, [lock])
  }
  return [...byName]
    .map(([name, all]) => {
      const holders = all.filter(({ held }) => held)
      const waiting = all.filter(({ held }) => !held).toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0))
      return { name, holders, queue: queueOf(holders, waiting) }
    })
    .toSorted((a, b) => blockedIn(b) - blockedIn(a) || b.queue.length - a.queue.length || a.name.localeCompare(b.name))
}
export const blockedIn = ({ queue }: Resource): number => queue.filter(({ behind }) => behind !== null).length

/** Each waiter with the nearest conflicting locks before it: earlier ones follow from those. */
function queueOf(holders: readonly Lock[], waiting: readonly Lock[]): readonly Waiter[] {
  let exclusive: Lock | null = null
  let sharing: Lock[] = []
  const pass = (lock: Lock): void => {
    if (lock.mode === 'SHARED') sharing = [...sharing, lock]
    else [exclusive, sharing] = [lock, []]
  }
  for (const holder of holders) pass(holder)
  return waiting.map((lock) => {
    // A waiter behind shared locks is also behind the exclusive one before them.
    const behind = lock.mode !== 'SHARED' && sharing.length > 0 ? sharing : exclusive ? [exclusive] : null
    pass(lock)
    return { ...lock, behind }
  })
}

/** Holders that others wait for, first those that wait for no lock themselves. */
export function holdUpsOf(resources: readonly Resource[]): readonly HoldUp[] {
  const holders = new Map<string, LockObject>()
  const held = new Map<string, Set<string>>()
  const after = new Map<string, Set<string>>()
  const waits = new Set<string>()
  for (const resource of resources) {
    for (const { object, behind } of resource.queue) {
      if (!object || !behind) continue
      waits.add(object.id)
      for (const { object: before } of behind) if (before) addTo(after, before.id, object.id)
    }
    if (blockedIn(resource) === 0) continue
    for (const { object } of resource.holders) {
      if (!object) continue
      holders.set(object.id, object)
      addTo(held, object.id, resource.name)
    }
  }
  return [...holders.values()]
    .map((object) => ({
      object,
      resources: [...(held.get(object.id) ?? [])].toSorted(),
      waiting: reached(object.id, after).size,
      isRoot: !waits.has(object.id),
    }))
    .filter(({ waiting }) => waiting > 0)
    .toSorted((a, b) => Number(b.isRoot) - Number(a.isRoot) || b.waiting - a.waiting)
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key)
  if (known) known.add(value)
  else map.set(key, new Set([value]))
}

/** All jobs that wait for it, directly or through others, without itself. */
function reached(from: string, edges: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const found = new Set<string>()
  const left = [from]
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    for (const next of edges.get(id) ?? []) {
      if (found.has(next) || next === from) continue
      found.add(next)
      left.push(next)
    }
  }
  return found
}

/** e.g. `alone`, `shared`: the meaning of the mode for others. */
export const modeWord = (mode: string): string => (mode === 'SHARED' ? 'shared' : 'exclusive')
