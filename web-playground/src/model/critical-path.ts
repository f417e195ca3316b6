import type { TreeGraph } from './tree-graph.ts'

/** When an object worked. Milliseconds since 1970. */
interface Span {
  readonly from: number
  readonly to: number
}
export interface PathSource {
  readonly rootId: string
  /** Objects that have not begun to work have none. */
  readonly spans: ReadonlyMap<string, Span>
  childrenOf(id: string): readonly string[]
  parentOf(id: string): string | undefined
  dependenciesOf(id: string): readonly string[]
}
/** The objects whose ends determined the end of a run. */
export interface CriticalPath {
  /** The part of the run that each accounts for, in milliseconds, in the order of time. */
  readonly steps: ReadonlyMap<string, number>
  /** Objects of it that began once another one had ended. */
  readonly links: readonly { readonly before: string; readonly after: string }[]
}
export const NO_PATH: CriticalPath = { steps: new Map(), links: [] }

interface Moment {
  readonly id: string
  readonly isEnd: boolean
  readonly at: number
}

/**
 * Goes back from the end of the root, each time to the last of what it waited for: an end waits for the ends of the children and for
 * the object's own beginning, a beginning for the ends of the dependencies and for the beginning of the parent.
 */
export function criticalPath(source: PathSource): CriticalPath {
  const momentOf = (id: string, isEnd: boolean): Moment[] => {
    const span = source.spans.get(id)
    return span ? [{ id, isEnd, at: isEnd ? span.to : span.from }] : []
  }
  const causesOf = ({ id, isEnd, at }: Moment): readonly Moment[] => {
    const parent = source.parentOf(id)
    const causes = isEnd
      ? [...source.childrenOf(id).flatMap((child) => momentOf(child, true)), ...momentOf(id, false)]
      : [
          ...source.dependenciesOf(id).flatMap((other) => momentOf(other, true)),
          ...(parent === undefined ? [] : momentOf(parent, false)),
        ]
    return causes.filter((cause) => cause.at <= at)
  }
  const isLater = (one: Moment, other: Moment): boolean => {
    if (one.at !== other.at) return one.at > other.at
    if (one.isEnd !== other.isEnd) return one.isEnd
    // The one that took longest goes before others that end at the same time.
    const [a, b] = [source.spans.get(one.id)?.from ?? 0, source.spans.get(other.id)?.from ?? 0]
    return a === b ? one.id < other.id : a < b
  }
  const seen = new Set<string>()
  const back: { readonly id: string; readonly ms: number }[] = []
  const links: { before: string; after: string }[] = []
  let [moment] = momentOf(source.rootId, true)
  // Dependencies make no circle; a snapshot of a tree that changes might.
  while (moment && !seen.has(`${moment.isEnd} ${moment.id}`)) {
    const { id, isEnd, at }: Moment = moment
    seen.add(`${isEnd} ${id}`)
    const causes: readonly Moment[] = causesOf(moment)
    const [first, ...others] = causes
    const cause: Moment | undefined = first && others.reduce((last, one) => (isLater(one, last) ? one : last), first)
    back.push({ id, ms: at - (cause?.at ?? at) })
    if (cause?.isEnd && !isEnd) links.unshift({ before: cause.id, after: id })
    moment = cause
  }
  const steps = new Map<string, number>()
  for (const { id, ms } of back.reverse()) steps.set(id, (steps.get(id) ?? 0) + ms)
  return { steps, links }
}

export interface DrawnPath {
  readonly nodes: ReadonlySet<string>
  readonly edges: ReadonlySet<string>
}
/** The nodes and edges of a graph that show a path: an object that is not drawn is shown by the box that it is counted in. */
export function drawnPath({ nodes, edges }: TreeGraph, { steps, links }: CriticalPath): DrawnPath {
  const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]))
  const nodeOf = new Map<string, string>()
  for (const { id, folded, wrappers } of nodes) {
    for (const inside of [...folded, ...wrappers]) if (steps.has(inside)) nodeOf.set(inside, id)
  }
  for (const { id } of nodes) nodeOf.set(id, id)
  const around = (id: string): readonly string[] => {
    const found: string[] = []
    for (let at = nodeOf.get(id) ?? null; at !== null; at = parents.get(at) ?? null) found.push(at)
    return found
  }
  const crossed = links.map(({ before, after }) => ({ before: around(before), after: around(after) }))
  return {
    nodes: new Set([...steps.keys()].flatMap((id) => nodeOf.get(id) ?? [])),
    edges: new Set(
      edges
        .filter(({ from, to }) => crossed.some(({ before, after }) => before.includes(from) && after.includes(to)))
        .map(({ id }) => id),
    ),
  }
}
