/** Tarjan's strongly connected components of more than one file, each sorted: files that import each other in a circle. */
export function importCircles(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>()
  const path: string[] = []
  const circles: string[][] = []

  function visit(file: string): number {
    order.set(file, order.size)
    let low = order.size - 1
    path.push(file)
    for (const to of imports.get(file) ?? []) {
      if (!order.has(to)) low = Math.min(low, visit(to))
      else if (path.includes(to)) low = Math.min(low, order.get(to) ?? low)
    }
    if (low === order.get(file)) {
      const circle = path.splice(path.indexOf(file))
      if (circle.length > 1) circles.push(circle.toSorted())
    }
    return low
  }
  for (const file of imports.keys()) if (!order.has(file)) visit(file)
  return circles
}
