import type { Row } from './object.ts'
import { type Codec, either, type FilterOf, flag, text, type UrlFilter, urlFilter, words } from './url-filter.ts'

export const ORDERS = ['CREATED_AT', 'NAME', 'PHASE_SINCE'] as const
export type OrderField = (typeof ORDERS)[number]
export interface Order {
  readonly field: OrderField
  readonly direction: 'ASC' | 'DESC'
}
export const NEWEST: Order = { field: 'CREATED_AT', direction: 'DESC' }

const order: Codec<Order> = {
  name: 'sort',
  read: (value) => {
    const field = ORDERS.find((each) => each === value.replace(/^-/, '').toUpperCase())
    return field ? { field, direction: value.startsWith('-') ? 'DESC' : 'ASC' } : NEWEST
  },
  write: ({ field, direction }) =>
    field === NEWEST.field && direction === NEWEST.direction
      ? ''
      : `${direction === 'DESC' ? '-' : ''}${field.toLowerCase()}`,
}
const FILTER = urlFilter({
  kinds: words('kind'),
  phases: words('phase'),
  name: text('name'),
  project: text('project'),
  roots: flag('roots'),
  finished: either('finished'),
  order,
})
/** The filter of a list. */
export type ObjectFilter = FilterOf<typeof FILTER>
export const OBJECT_FILTER: UrlFilter<ObjectFilter> = {
  ...FILTER,
  read: (search) => {
    const filter = FILTER.read(search)
    // The server orders by this for roots only, since every phase change writes it.
    return filter.order.field === 'PHASE_SINCE' && !filter.roots ? { ...filter, order: NEWEST } : filter
  },
}
export const ALL_OBJECTS = OBJECT_FILTER.all

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
