import type { ObjectRow } from '../../core/tree.ts'
import type { ObjectKind, Phase } from '../../core/vocabulary.ts'
import type { Client } from '../client.ts'
import type { RowOf } from '../statement.ts'
import type * as table from '../tables.ts'
import { OBJECT_SELECTION, type Projects, visible } from './objects.ts'
import { direction, inOrder, type Window } from './window.ts'

/** The conditions of `objects(filter:)`. Absent: no condition. */
export interface ObjectQuery {
  readonly projects: Projects
  /** Only objects of this tree. */
  readonly rootId?: string | undefined
  /** Only objects of these trees. */
  readonly rootIds?: readonly string[] | undefined
  readonly project?: string | undefined
  readonly kinds?: readonly ObjectKind[] | undefined
  readonly phases?: readonly Phase[] | undefined
  readonly finished?: boolean | undefined
  readonly rootsOnly?: boolean | undefined
  readonly nameContains?: string | undefined
  /** In one of these phases, without a child that is in one. */
  readonly lowestIn?: readonly Phase[] | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Any of these conditions on an object `o`, which are no input. */
  readonly anyOf?: readonly string[] | undefined
  /** Further conditions on the objects of each kind; objects of other kinds are left out. */
  readonly askable?: readonly Askable[] | undefined
  /** Each of these holds a row of the object. */
  readonly sideRows?: readonly SideRows[] | undefined
}
/** Null: any. */
export interface Askable {
  readonly kind: ObjectKind
  readonly finished: boolean | null
  /** Their tree is paused, or it is not. */
  readonly paused: boolean | null
  readonly rootsOnly: boolean
  /** None of the objects `o` for which this holds. */
  readonly without: string | null
}
/** Rows of a side table, by their `object_id`. */
export interface SideRows {
  readonly table: string
  /** The required values of columns; null and undefined: any. */
  readonly columns: Readonly<Record<string, unknown>>
}
export type ObjectOrderField = 'CREATED_AT' | 'UPDATED_AT' | 'NAME' | 'PHASE_SINCE'
export interface ObjectOrder {
  readonly field: ObjectOrderField
  readonly direction: 'ASC' | 'DESC'
}
/** Objects of one tree. */
export interface TreeCounts {
  readonly all: number
  readonly finished: number
}
/** The value of the ordering column, and the id that settles ties. */
export type ObjectPosition = readonly [value: string, id: string]

/**
 * Determines which objects are finished: the final phases of machines, and two kinds of exceptions, as conditions on an
 * object `o`. `outstanding`: it still has a job in a final phase. `leftOut`: it gets no job, though its phase is not
 * final.
 */
export interface FinishedRule {
  readonly final: readonly { readonly kind: ObjectKind; readonly phase: Phase }[]
  readonly outstanding: readonly string[]
  readonly leftOut: readonly string[]
}

interface Ordering {
  readonly column: string
  readonly type: string
}
const ORDERINGS: Readonly<Record<ObjectOrderField, Ordering>> = {
  // Ids are drawn from the clock: they have the order of creation, and an index.
  CREATED_AT: { column: 'o.id', type: 'uuid' },
  UPDATED_AT: { column: 'o.updated_at', type: 'timestamptz' },
  NAME: { column: 'o.name', type: 'text' },
  PHASE_SINCE: { column: 'o.phase_since', type: 'timestamptz' },
}

/** Collects conditions and their parameters. */
class Conditions {
  readonly values: unknown[] = []
  readonly all: string[] = []
  value(value: unknown): string {
    return `$${this.values.push(value)}`
  }
  add(value: unknown, condition: (parameter: string) => string): void {
    if (value !== undefined && value !== null) this.all.push(condition(this.value(value)))
  }
  get text(): string {
    return this.all.length > 0 ? this.all.join(' and ') : 'true'
  }
}

/** An end of a page: the sign of what lies on its side, and the parameters of its position. */
interface Bound {
  readonly sign: '<' | '>'
  readonly value: string
  readonly id: string
}

/** @param ids the ends of a page that is ordered by id */
function addConditions(where: Conditions, query: ObjectQuery, rule: FinishedRule, ids: readonly Bound[] = []): void {
  where.add(query.projects, visible)
  where.add(query.rootId, (p) => `o.root_id = ${p}`)
  where.add(query.rootIds, (p) => `o.root_id = any(${p}::uuid[])`)
  where.add(query.project, (p) => `o.project_id = (select id from project where name = ${p})`)
  where.add(query.kinds, (p) => `o.kind = any(${p}::object_kind[])`)
  where.add(query.phases, (p) => `o.phase = any(${p}::phase[])`)
  where.add(query.lowestIn, lowestIn)
  if (query.anyOf) where.all.push(`(${query.anyOf.join(' or ') || 'false'})`)
  if (query.rootsOnly) where.all.push('o.parent_id is null')
  where.add(query.nameContains, (p) => `strpos(lower(o.name), lower(${p})) > 0`)
  where.add(query.labels && JSON.stringify(query.labels), (p) => labelled(p))
  if (query.askable) where.all.push(`(${askable(where, query.askable, rule).join(' or ') || 'false'})`)
  for (const rows of query.sideRows ?? []) where.all.push(hasSideRow(where, rows, ids))
  if (query.finished !== undefined) {
    where.all.push(`${query.finished ? '' : 'not '}(${isFinished(where, rule)})`)
  }
}

function askable(where: Conditions, all: readonly Askable[], rule: FinishedRule): readonly string[] {
  const end = all.some(({ finished }) => finished !== null) ? isFinished(where, rule) : ''
  const are = (condition: string, wanted: boolean | null): readonly string[] =>
    wanted === null ? [] : [`${wanted ? '' : 'not '}(${condition})`]
  return all.map(({ kind, finished, paused, rootsOnly, without }) =>
    [
      `o.kind = ${where.value(kind)}::object_kind`,
      ...(rootsOnly ? ['o.parent_id is null'] : []),
      ...are('exists (select from root_pause p where p.root_id = o.root_id)', paused),
      ...(without ? are(without, false) : []),
      ...are(end, finished),
    ].join(' and '),
  )
}

// The ends of the page stand here as well, where an index on a column and the id takes them.
function hasSideRow(where: Conditions, { table, columns }: SideRows, ids: readonly Bound[]): string {
  const given = Object.entries(columns).filter(([, value]) => value !== null && value !== undefined)
  const all = [
    ...given.map(([column, value]) => `b.${column} = ${where.value(value)}`),
    ...ids.map(({ sign, id }) => `b.object_id ${sign} ${id}::uuid`),
  ]
  return `o.id in (select b.object_id from ${table} b where ${all.join(' and ') || 'true'})`
}

// The kinds are named so that the index on (parent, kind, name) leads to the children.
const lowestIn = (parameter: string): string =>
  `o.phase = any(${parameter}::phase[]) and not exists (
    select from object c where c.parent_id = o.id and c.kind = any(enum_range(null::object_kind)) and c.phase = any(${parameter}::phase[])
  )`

const labelled = (parameter: string): string =>
  `o.id in (select s.object_id from object_spec s where s.labels @> ${parameter}::jsonb and s.labels <> '{}')`

function isFinished(where: Conditions, { final, outstanding, leftOut }: FinishedRule): string {
  const kinds = where.value(final.map(({ kind }) => kind))
  const phases = where.value(final.map(({ phase }) => phase))
  const none = outstanding.map((condition) => ` and not ${condition}`).join('')
  const passedBy = leftOut.map((condition) => ` or ${condition}`).join('')
  return `o.job_id is not distinct from o.finished_job_id
    and ((o.kind, o.phase) in (select k, p from unnest(${kinds}::object_kind[], ${phases}::phase[]) f(k, p))${none}${passedBy})`
}

/** The same conditions as a text on an object `o`, whose parameters are the first ones of the statement. */
export function matching(
  query: ObjectQuery,
  rule: FinishedRule,
): { readonly text: string; readonly values: readonly unknown[] } {
  const where = new Conditions()
  addConditions(where, query, rule)
  return where
}

/** A page of what matches. */
export async function findObjects(
  client: Client,
  query: ObjectQuery,
  rule: FinishedRule,
  order: ObjectOrder,
  window: Window<ObjectPosition>,
): Promise<readonly ObjectRow[]> {
  const where = new Conditions()
  const { column, type } = ORDERINGS[order.field]
  const ascending = order.direction === 'ASC'
  const boundAt = (position: ObjectPosition | null, sign: Bound['sign']): readonly Bound[] =>
    position ? [{ sign, value: where.value(position[0]), id: where.value(position[1]) }] : []
  const bounds = [...boundAt(window.after, ascending ? '>' : '<'), ...boundAt(window.before, ascending ? '<' : '>')]
  for (const { sign, value, id } of bounds) where.all.push(`(${column}, o.id) ${sign} (${value}::${type}, ${id}::uuid)`)
  addConditions(where, query, rule, order.field === 'CREATED_AT' ? bounds : [])
  const sort = direction({ backward: window.backward === ascending })
  const { rows } = await client.query<RowOf<typeof table.object>>({
    text: `select ${OBJECT_SELECTION} from object o where ${where.text}
      order by ${column} ${sort}, o.id ${sort} limit ${where.value(window.limit)}`,
    values: where.values,
  })
  return inOrder(rows, window)
}

/** The position of a row in this order. */
export function positionOf(row: ObjectRow, { field }: ObjectOrder): ObjectPosition {
  if (field === 'NAME') return [row.name, row.id]
  if (field === 'UPDATED_AT') return [row.updatedAt.toISOString(), row.id]
  if (field === 'PHASE_SINCE') return [row.phaseSince.toISOString(), row.id]
  return [row.id, row.id]
}

/** The number of objects of each tree, and of those that are finished: one statement for all trees. */
export async function countTrees(
  client: Client,
  rootIds: readonly string[],
  rule: FinishedRule,
): Promise<ReadonlyMap<string, TreeCounts>> {
  const where = new Conditions()
  const { rows } = await client.query<TreeCounts & { readonly key: string }>({
    text: `select o.root_id as key, count(*)::int as "all", (count(*) filter (where ${isFinished(where, rule)}))::int as finished
      from object o where o.root_id = any(${where.value(rootIds)}::uuid[]) group by o.root_id`,
    values: where.values,
  })
  return new Map(rows.map(({ key, ...counts }) => [key, counts]))
}

export async function countObjects(client: Client, query: ObjectQuery, rule: FinishedRule): Promise<number> {
  const { text, values } = matching(query, rule)
  const { rows } = await client.query<{ count: number }>({
    text: `select count(*)::int as count from object o where ${text}`,
    values: [...values],
  })
  return rows[0]?.count ?? 0
}
