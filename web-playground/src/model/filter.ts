import { matchesFilter, type ObjectSelection } from 'phaseline/client-model'
import type { ListedRow } from './object.ts'
import { type Column, columnsOf, DEFAULT_COLUMNS, haveRun } from './object-columns.ts'
import { type Codec, either, type FilterOf, pairs, text, type UrlFilter, urlFilter, words } from './url-filter.ts'

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
/** Empty: those that the viewer has chosen before, or the default ones. */
const columns: Codec<readonly Column[]> = {
  name: 'columns',
  read: (value) => columnsOf(value.split(',')),
  write: (list) => (list.join() === DEFAULT_COLUMNS.join() ? '' : list.join()),
}
const FILTER = urlFilter({
  kinds: words('kind'),
  phases: words('phase'),
  name: text('name'),
  labels: pairs('label'),
  project: text('project'),
  // Null: the address says nothing of it, as links that name kinds or phases.
  roots: either('roots'),
  finished: either('finished'),
  order,
  columns,
})
/** The filter of a list, and its columns. */
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

/** The choice of a viewer for all lists of objects, whatever their filter. */
export type ListChoice = Pick<ObjectFilter, 'columns' | 'roots'>

/** Nothing is selected: this is the list as the menu opens it. */
export const isWhole = (filter: ObjectFilter): boolean => answered({ ...filter, project: '', roots: null }) === ''

/** The list as it is shown: the address has it, or else what was chosen last. Without a filter it begins with the roots. */
export const shownList = (asked: ObjectFilter, chosen: ListChoice): ObjectFilter => ({
  ...asked,
  columns: [asked.columns, chosen.columns].find(({ length }) => length > 0) ?? DEFAULT_COLUMNS,
  roots: asked.roots ?? (isWhole(asked) ? (chosen.roots ?? true) : null),
})

/** The part that selects rows. */
export const answered = (filter: ObjectFilter): string => OBJECT_FILTER.write({ ...filter, columns: [] })
/** The part that the server answers: it reads more for some columns. */
export const readFor = (filter: ObjectFilter): string => `${answered(filter)} ${haveRun(filter.columns)}`

/** ObjectFilter of the API. */
export function filterInput({ kinds, phases, name, labels, project, roots, finished }: ObjectFilter): ObjectSelection {
  return {
    ...(kinds.length > 0 ? { kinds } : {}),
    ...(phases.length > 0 ? { phases } : {}),
    ...(name ? { nameContains: name } : {}),
    ...(labels.length > 0 ? { labels } : {}),
    ...(project ? { project } : {}),
    ...(roots ? { rootsOnly: true } : {}),
    ...(finished === null ? {} : { finished }),
  }
}

export const matches = (filter: ObjectFilter, row: ListedRow): boolean =>
  matchesFilter(filterInput(filter), { ...row, project: row.project.name, isRoot: row.parent === null })

/** Ids are in the order of creation: they break ties, as on the server. */
export function compareRows({ field, direction }: Order): (a: ListedRow, b: ListedRow) => number {
  const key = (row: ListedRow): string =>
    field === 'NAME' ? row.name : field === 'PHASE_SINCE' ? row.phaseSince : row.createdAt
  const sign = direction === 'DESC' ? -1 : 1
  return (a, b) => sign * (compare(key(a), key(b)) || compare(a.id, b.id))
}
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
