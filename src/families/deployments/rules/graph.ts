/** A cycle as a path that ends where it begins, or null. `edges`: name → its dependencies; unknown names are ignored. */
export function findCycle(edges: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const done = new Set<string>()
  for (const start of edges.keys()) {
    const cycle = walk(start, edges, done)
    if (cycle) return cycle
  }
  return null
}

/** Depth first with an explicit stack, so that a long chain cannot overflow the call stack. */
function walk(
  start: string,
  edges: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
): readonly string[] | null {
  const path: { name: string; next: number }[] = []
  const onPath = new Map<string, number>()
  const push = (name: string) => {
    onPath.set(name, path.length)
    path.push({ name, next: 0 })
  }
  if (!done.has(start)) push(start)
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const next = edges.get(top.name)?.[top.next++]
    if (next === undefined) {
      path.pop()
      onPath.delete(top.name)
      done.add(top.name)
    } else if (onPath.has(next)) return [...path.slice(onPath.get(next)).map((p) => p.name), next]
    else if (edges.has(next) && !done.has(next)) push(next)
  }
  return null
}

/** Sorts names so that each follows its dependencies, otherwise in their order. There must be no cycle. */
export function topologicalOrder(edges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const order = new Set<string>()
  for (const start of edges.keys()) {
    const path = [{ name: start, next: 0 }]
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = order.has(top.name) ? undefined : edges.get(top.name)?.[top.next++]
      if (next === undefined) {
        order.add(top.name)
        path.pop()
      } else if (edges.has(next) && !order.has(next)) path.push({ name: next, next: 0 })
    }
  }
  return [...order]
}
