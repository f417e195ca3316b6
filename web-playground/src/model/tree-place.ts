import { GRAPH_VIEW, type GraphView } from './graph-view.ts'
import { type Span, TIME_FIELDS } from './time-range.ts'

export const TREE_VIEWS = ['graph', 'timeline', 'changes'] as const
export type TreeView = (typeof TREE_VIEWS)[number]

/** The view of a tree, as the address has it. */
export interface TreePlace {
  readonly view: TreeView
  /** The selected object. */
  readonly object: string
  /** The sequence at which the tree is shown; null: the present. */
  readonly at: number | null
  /** The span of shown changes. */
  readonly last: Span
  /** The time since which changes are shown, in ISO 8601; empty: for the span. */
  readonly since: string
  /** Two runs of the root that are compared instead. */
  readonly runs: readonly [number, number] | null
  /** The critical path of the last run is marked. */
  readonly critical: boolean
  readonly graph: GraphView
}

export type PartialPlace = Partial<Omit<TreePlace, 'graph'>> & { readonly graph?: Partial<GraphView> }

export function readPlace(search: string, rootId: string): TreePlace {
  const params = new URLSearchParams(search)
  const at = params.get('at') ?? ''
  const [, a, b] = /^([1-9]\d{0,8}),([1-9]\d{0,8})$/.exec(params.get('runs') ?? '') ?? []
  return {
    view: TREE_VIEWS.find((view) => view === params.get('view')) ?? 'graph',
    object: params.get('object') ?? rootId,
    at: /^\d{1,15}$/.test(at) ? Number(at) : null,
    last: TIME_FIELDS.last.read(params.get('last') ?? '') ?? 'day',
    since: TIME_FIELDS.since.read(params.get('since') ?? ''),
    runs: a !== undefined && b !== undefined ? [Number(a), Number(b)] : null,
    critical: params.get('critical') === 'yes',
    graph: GRAPH_VIEW.read(search),
  }
}

/** Defaults are omitted. Starts with `?`, or is empty. */
export function writePlace(
  { view, object, at, last, since, runs, critical, graph = {} }: PartialPlace,
  rootId: string,
): string {
  const params = new URLSearchParams()
  if (view !== undefined && view !== 'graph') params.set('view', view)
  if (view === 'changes' && last !== undefined && last !== 'day') params.set('last', last)
  if (view === 'changes' && since) params.set('since', since)
  if (view === 'changes' && runs) params.set('runs', runs.join())
  if (critical) params.set('critical', 'yes')
  if (object !== undefined && object !== rootId) params.set('object', object)
  if (at !== undefined && at !== null) params.set('at', String(at))
  const texts = [params.toString().replaceAll('%2C', ','), GRAPH_VIEW.write(graph).slice(1)].filter(Boolean)
  return texts.length > 0 ? `?${texts.join('&')}` : ''
}
