/** The view of a tree, as the address has it. */
export interface TreePlace {
  readonly view: 'graph' | 'timeline'
  /** The selected object. */
  readonly object: string
  /** The sequence at which the tree is shown; null: the present. */
  readonly at: number | null
}

export function readPlace(search: string, rootId: string): TreePlace {
  const params = new URLSearchParams(search)
  const at = params.get('at') ?? ''
  return {
    view: params.get('view') === 'timeline' ? 'timeline' : 'graph',
    object: params.get('object') ?? rootId,
    at: /^\d{1,15}$/.test(at) ? Number(at) : null,
  }
}

/** Defaults are omitted. Starts with `?`, or is empty. */
export function writePlace({ view, object, at }: Partial<TreePlace>, rootId: string): string {
  const params = new URLSearchParams()
  if (view === 'timeline') params.set('view', view)
  if (object !== undefined && object !== rootId) params.set('object', object)
  if (at !== undefined && at !== null) params.set('at', String(at))
  const text = params.toString()
  return text ? `?${text}` : ''
}
