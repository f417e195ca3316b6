import type { InputFieldMap, InputRef } from '@pothos/core'
import { readable } from '../../core/can-read.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { RIGHTS } from '../../core/rights.ts'
import type { ObjectRow } from '../../core/tree.ts'
import {
  countObjects,
  findObjects,
  type ObjectOrder,
  type ObjectQuery,
  positionOf,
  type SideRows,
} from '../../store/loaders/find-objects.ts'
import { loadObjectsByPath } from '../../store/loaders/objects.ts'
import type { KindRegistry } from '../family.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { cursorOf } from '../schema/cursors.ts'
import { ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { badInput, pageCost } from '../schema/limits.ts'
import { TreeObjectConnection, TreeObjectRef } from '../schema/refs.ts'
import { LabelInput, pairsOf } from './label-input.ts'

type FilterFields = Parameters<typeof builder.inputType<'ObjectFilter', InputFieldMap>>[1]['fields']
interface FamilyFilter {
  readonly fields: FilterFields
  sideRows(filter: object): readonly SideRows[]
}
const filtersOfFamilies: FamilyFilter[] = []
/** Adds a field that selects objects of one family by their side rows. Like its types, it is added when its module is loaded. */
export function addObjectFilter<Given>(
  name: string,
  field: { readonly type: InputRef<Given>; readonly description: string },
  sideRows: (given: NonNullable<Given>) => SideRows,
): void {
  filtersOfFamilies.push({
    fields: (t) => ({ [name]: t.field(field) }),
    sideRows: (filter) => {
      const given = (filter as Readonly<Record<string, Given>>)[name]
      return given ? [sideRows(given)] : []
    },
  })
}

export const ObjectFilter = builder.inputType('ObjectFilter', {
  description: 'Objects for which every given field holds. A field that is left out or null holds for all.',
  fields: (t) => ({
    project: t.string({
      limit: 'reference',
      description: 'Name of the project. One that does not exist has no objects.',
    }),
    kinds: t.field({
      type: [ObjectKindEnum],
      limit: 'choices',
      description: 'Kinds, of which the object must have one.',
    }),
    phases: t.field({
      type: [PhaseEnum],
      limit: 'choices',
      description: 'Phases, of which the object must be in one.',
    }),
    finished: t.boolean({ description: "The required value of the object's `finished`." }),
    failed: t.boolean({
      description:
        'True: only objects that have failed by themselves: they are in a phase of the class FAILED, and none of their children is. False: all.',
    }),
    undecided: t.boolean({
      description:
        'True: only objects about which a person must decide: their `blockedBy` has a DecisionBlocker about themselves. False: all.',
    }),
    rootsOnly: t.boolean({ description: 'True: only objects without parent. False: all.' }),
    nameContains: t.string({
      limit: 'search',
      description: 'Text that the name must contain, without regard to case.',
    }),
    labels: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: 'Pairs that must all be among the labels of the object.',
    }),
    // Their types are the families' own.
    ...(Object.assign({}, ...filtersOfFamilies.map(({ fields }) => fields(t))) as object),
  }),
})
const ObjectOrderField = builder.enumType('ObjectOrderField', {
  description: 'The order of objects. Equal ones are ordered by id.',
  values: {
    CREATED_AT: { description: 'Time of creation.' },
    UPDATED_AT: { description: 'Time of the last write. Only with `rootsOnly: true`.' },
    NAME: { description: 'Name, in the collation of the database.' },
    PHASE_SINCE: { description: 'Time of the last phase change. Only with `rootsOnly: true` or `failed: true`.' },
  } as const,
})
const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Direction of an order.',
  values: {
    ASC: { description: 'The smallest, or the oldest, first.' },
    DESC: { description: 'The largest, or the newest, first.' },
  } as const,
})
const ObjectOrderInput = builder.inputType('ObjectOrder', {
  description: 'Order of a list of objects.',
  fields: (t) => ({
    field: t.field({ type: ObjectOrderField, required: true, description: 'The order.' }),
    direction: t.field({ type: OrderDirection, required: true, description: 'The first end.' }),
  }),
})

type Filter = typeof ObjectFilter.$inferInput
export function queryOf(
  filter: Filter | null | undefined,
  { projects, rootId }: Viewer,
  { failedPhases, undecided: conditions }: Pick<KindRegistry, 'failedPhases' | 'undecided'>,
): ObjectQuery {
  const { project, kinds, phases, finished, failed, undecided, rootsOnly, nameContains, labels } = filter ?? {}
  return {
    projects,
    rootId,
    project: project ?? undefined,
    kinds: kinds ?? undefined,
    phases: phases ?? undefined,
    finished: finished ?? undefined,
    lowestIn: failed ? failedPhases : undefined,
    anyOf: undecided ? conditions : undefined,
    rootsOnly: rootsOnly ?? undefined,
    nameContains: nameContains ?? undefined,
    labels: labels?.length ? pairsOf(labels) : undefined,
    sideRows: filtersOfFamilies.flatMap(({ sideRows }) => sideRows(filter ?? {})),
  }
}

/** More than there are kinds. */
const MAX_NAMESAKES = 50
const CREATED: ObjectOrder = { field: 'CREATED_AT', direction: 'ASC' }
const CURSORS = {
  CREATED_AT: cursorOf('uuid', 'uuid'),
  UPDATED_AT: cursorOf('time', 'uuid'),
  NAME: cursorOf('text', 'uuid'),
  PHASE_SINCE: cursorOf('time', 'uuid'),
} as const

builder.queryFields((t) => ({
  object: t.field({
    right: RIGHTS.readObjects,
    type: TreeObjectRef,
    nullable: true,
    description: 'An object by its id; null if there is none that the viewer may read.',
    args: { id: t.arg.id({ required: true, description: 'Id of the object.' }) },
    resolve: (_, { id }, context) => objectLoader(context).load(id),
  }),
  objectByPath: t.field({
    right: RIGHTS.readObjects,
    type: TreeObjectRef,
    nullable: true,
    description:
      'An object by its place, e.g. kind INSTALLATION, path ["shop", "backend"]; null if there is none that the viewer may read.',
    args: {
      project: t.arg.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of the project.',
      }),
      kind: t.arg({ type: ObjectKindEnum, required: true, description: 'Kind of the object.' }),
      path: t.arg.stringList({ required: true, limit: 'path', description: 'Names from the root down to the object.' }),
    },
    resolve: async (_, at, { pool, viewer }) => {
      const [row] = readable(viewer, await loadObjectsByPath(pool, at, viewer.projects, 1))
      return row ?? null
    },
  }),
  objectsByPath: t.field({
    right: RIGHTS.readObjects,
    type: [TreeObjectRef],
    description:
      'Objects by their place, whatever their kinds: siblings of different kinds may share a name. Empty if there are none that the viewer may read.',
    args: {
      project: t.arg.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of the project.',
      }),
      path: t.arg.stringList({
        required: true,
        limit: 'path',
        description: 'Names from the root down to the objects.',
      }),
    },
    complexity: { field: 1, multiplier: MAX_NAMESAKES },
    resolve: async (_, at, { pool, viewer }) =>
      readable(viewer, await loadObjectsByPath(pool, { ...at, kind: null }, viewer.projects, MAX_NAMESAKES)),
  }),
  objects: t.field({
    right: RIGHTS.readObjects,
    type: TreeObjectConnection,
    nullable: true,
    description: 'Objects that the viewer may read. Null only together with an entry in `errors`.',
    args: {
      filter: t.arg({ type: ObjectFilter, description: 'Selects objects. Left out or null: all.' }),
      orderBy: t.arg({
        type: ObjectOrderInput,
        description: 'Order of the list. Left out or null: CREATED_AT, ASC. A cursor is of one order.',
      }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: (_, { filter, orderBy, ...args }, { pool, viewer, kinds }) => {
      const order: ObjectOrder = orderBy ?? CREATED
      const query = queryOf(filter, viewer, kinds)
      // There is no index of these times for all objects, and none that would find failures: those are all read in any order.
      if (order.field === 'UPDATED_AT' && !query.rootsOnly)
        throw badInput('Only roots can be ordered by UPDATED_AT: set rootsOnly.')
      if (order.field === 'PHASE_SINCE' && !query.rootsOnly && !query.lowestIn)
        throw badInput('Only roots and failures can be ordered by PHASE_SINCE: set rootsOnly or failed.')
      return connect(args, {
        cursor: CURSORS[order.field],
        position: (row: ObjectRow) => positionOf(row, order),
        load: (window) => findObjects(pool, query, kinds.finishedRule, order, window),
        count: () => countObjects(pool, query, kinds.finishedRule),
      })
    },
  }),
}))
