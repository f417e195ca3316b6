import type { Row } from './object.ts'

export const ORDERS = ['CREATED_AT', 'NAME', 'PHASE_SINCE'] as const
export type OrderField = (typeof ORDERS)[number]
export interface Order {
  readonly field: OrderField
  readonly direction: 'ASC' | 'DESC'
}
/** The filter of a list, as the address has it. */
export interface ObjectFilter {
  readonly kinds: readonly string[]
  readonly phases: readonly string[]
  readonly name: string
  readonly project: string
  readonly roots: boolean
  /** null: both. */
  readonly finished: boolean | null
  readonly order: Order
}
export const NEWEST: Order = { field: 'CREATED_AT', direction: 'DESC' }
export const ALL: ObjectFilter = {
  kinds: [],
  phases: [],
  name: '',
  project: '',
  roots: false,
  finished: null,
  order: NEWEST,
}

export function readFilter(search: string): ObjectFilter {
  const params = new URLSearchParams(search)
  const list = (name: string): readonly string[] =>
    (params.get(name) ?? '').split(',').filter((word) => /^[A-Z_]+$/.test(word))
  const finished = params.get('finished')
  const roots = params.get('roots') === 'yes'
  return {
    kinds: list('kind'),
    phases: list('phase'),
    name: params.get('name') ?? '',
    project: params.get('project') ?? '',
    roots,
    finished: finished === 'yes' ? true : finished === 'no' ? false : null,
    order: readOrder(params.get('sort') ?? '', roots),
  }
}

function readOrder(text: string, roots: boolean): Order {
  const direction = text.startsWith('-') ? 'DESC' : 'ASC'
  const field = ORDERS.find((each) => each === text.replace(/^-/, '').toUpperCase())
  // The server orders by this for roots only, since every phase change writes it.
  if (!field || (field === 'PHASE_SINCE' && !roots)) return NEWEST
  return { field, direction }
}

/** Defaults are omitted. Starts with `?`, or is empty. */
export function writeFilter(filter: ObjectFilter): string {
  const { kinds, phases, name, project, roots, finished, order } = filter
  const params = new URLSearchParams()
  if (kinds.length > 0) params.set('kind', kinds.join(','))
  if (phases.length > 0) params.set('phase', phases.join(','))
  if (name) params.set('name', name)
  if (project) params.set('project', project)
  if (roots) params.set('roots', 'yes')
  if (finished !== null) params.set('finished', finished ? 'yes' : 'no')
  if (order.field !== NEWEST.field || order.direction !== NEWEST.direction) {
    params.set('sort', `${order.direction === 'DESC' ? '-' : ''}${order.field.toLowerCase()}`)
  }
  const text = params.toString().replaceAll('%2C', ',')
  return text ? `?${text}` : ''
}

/** ObjectFilter of the API. */
export function filterInput({ kinds, phases, name, project, roots, finished }: ObjectFilter): Record<string, unknown> {
  return {
    ...(kinds.length > 0 ? { kinds } : {}),
    ...(phases.length > 0 ? { phases } : {}),
    ...(name ? { nameContains: name } : {}),
    ...(project ? { project } : {}),
    ...(roots ? { rootsOnly: true } : {}),
    ...(finished === null ? {} : { finished }),
  }
}

export function matches(filter: ObjectFilter, row: Row): boolean {
  const { kinds, phases, name, project, roots, finished } = filter
  return (
    (kinds.length === 0 || kinds.includes(row.kind)) &&
    (phases.length === 0 || phases.includes(row.phase)) &&
    (name === '' || row.name.toLowerCase().includes(name.toLowerCase())) &&
    (project === '' || row.project.name === project) &&
    (!roots || row.parent === null) &&
    (finished === null || row.finished === finished)
  )
}

/** Ids are in the order of creation: they break ties, as on the server. */
export function compareRows({ field, direction }: Order): (a: Row, b: Row) => number {
  const key = (row: Row): string =>
    field === 'NAME' ? row.name : field === 'PHASE_SINCE' ? row.phaseSince : row.createdAt
  const sign = direction === 'DESC' ? -1 : 1
  return (a, b) => sign * (compare(key(a), key(b)) || compare(a.id, b.id))
}
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
