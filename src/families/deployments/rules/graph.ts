/** Name → its dependencies. Unknown names are ignored. */
type Edges = ReadonlyMap<string, readonly string[]>

interface Sorted {
  /** Each name follows its dependencies, otherwise they are in their order. With a cycle, some are missing. */
  readonly order: readonly string[]
  /** A path that ends where it begins; null: there is no cycle. */
  readonly cycle: readonly string[] | null
}

/** Depth first with an explicit stack, so that a long chain cannot overflow the call stack. */
export function sortByDependencies(edges: Edges): Sorted {
  const done = new Set<string>()
  const path: { readonly name: string; next: number }[] = []
  const onPath = new Set<string>()
  const push = (name: string) => {
    onPath.add(name)
    path.push({ name, next: 0 })
  }
  for (const start of edges.keys()) {
    if (!done.has(start)) push(start)
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = edges.get(top.name)?.[top.next++]
      if (next === undefined) {
        path.pop()
        onPath.delete(top.name)
        done.add(top.name)
      } else if (onPath.has(next)) {
        const names = path.map(({ name }) => name)
        return { order: [...done], cycle: [...names.slice(names.indexOf(next)), next] }
      } else if (edges.has(next) && !done.has(next)) push(next)
    }
  }
  return { order: [...done], cycle: null }
}

export const findCycle = (edges: Edges): readonly string[] | null => sortByDependencies(edges).cycle

/** There must be no cycle. */
export const topologicalOrder = (edges: Edges): readonly string[] => sortByDependencies(edges).order
