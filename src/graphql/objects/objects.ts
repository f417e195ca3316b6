import type { Viewer } from '../../core/ports/viewer.ts'
import type { ObjectRow } from '../../core/tree.ts'
import {
  countObjects,
  findObjects,
  type ObjectOrder,
  type ObjectQuery,
  positionOf,
} from '../../store/loaders/find-objects.ts'
import { loadObjectByPath } from '../../store/loaders/objects.ts'
import { canReadTree } from '../auth/worker-access.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { connect } from '../schema/connection.ts'
import { cursorOf } from '../schema/cursors.ts'
import { ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { badInput, pageCost } from '../schema/limits.ts'
import { TreeObjectConnection, TreeObjectRef } from '../schema/refs.ts'
import { LabelInput } from './label-input.ts'

const ObjectFilter = builder.inputType('ObjectFilter', {
  fields: (t) => ({
    project: t.string(),
    kinds: t.field({ type: [ObjectKindEnum] }),
    phases: t.field({ type: [PhaseEnum] }),
    finished: t.boolean(),
    rootsOnly: t.boolean(),
    nameContains: t.string(),
    labels: t.field({ type: [LabelInput] }),
  }),
})
const ObjectOrderField = builder.enumType('ObjectOrderField', {
  values: {
    CREATED_AT: {},
    UPDATED_AT: { description: 'With rootsOnly.' },
    NAME: {},
    PHASE_SINCE: { description: 'With rootsOnly.' },
  } as const,
})
const OrderDirection = builder.enumType('OrderDirection', { values: ['ASC', 'DESC'] as const })
const ObjectOrderInput = builder.inputType('ObjectOrder', {
  fields: (t) => ({
    field: t.field({ type: ObjectOrderField, required: true }),
    direction: t.field({ type: OrderDirection, required: true }),
  }),
})

type Filter = typeof ObjectFilter.$inferInput
function queryOf(filter: Filter | null | undefined, { projects, eventId }: Viewer): ObjectQuery {
  const { project, kinds, phases, finished, rootsOnly, nameContains, labels } = filter ?? {}
  return {
    projects,
    rootId: eventId,
    project: project ?? undefined,
    kinds: kinds ?? undefined,
    phases: phases ?? undefined,
    finished: finished ?? undefined,
    rootsOnly: rootsOnly ?? undefined,
    nameContains: nameContains ?? undefined,
    labels: labels ? Object.fromEntries(labels.map(({ key, value }) => [key, value])) : undefined,
  }
}

const CREATED: ObjectOrder = { field: 'CREATED_AT', direction: 'ASC' }
const CURSORS = {
  CREATED_AT: cursorOf('uuid', 'uuid'),
  UPDATED_AT: cursorOf('time', 'uuid'),
  NAME: cursorOf('text', 'uuid'),
  PHASE_SINCE: cursorOf('time', 'uuid'),
} as const

builder.queryFields((t) => ({
  object: t.field({
    type: TreeObjectRef,
    nullable: true,
    description: 'Any object by id.',
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, context) => objectLoader(context).load(id),
  }),
  objectByPath: t.field({
    type: TreeObjectRef,
    nullable: true,
    description: 'Any object by where it stands, e.g. kind INSTALLATION, path ["shop", "backend"].',
    args: {
      project: t.arg.string({ required: true, defaultValue: 'default' }),
      kind: t.arg({ type: ObjectKindEnum, required: true }),
      path: t.arg.stringList({ required: true }),
    },
    resolve: async (_, at, { pool, viewer }) => {
      const row = await loadObjectByPath(pool, at, viewer.projects)
      return row && canReadTree(viewer, row.rootId) ? row : null
    },
  }),
  objects: t.field({
    type: TreeObjectConnection,
    nullable: true,
    args: {
      filter: t.arg({ type: ObjectFilter }),
      orderBy: t.arg({ type: ObjectOrderInput }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: (_, { filter, orderBy, ...args }, { pool, viewer, kinds }) => {
      const order: ObjectOrder = orderBy ?? CREATED
      const query = queryOf(filter, viewer)
      if ((order.field === 'UPDATED_AT' || order.field === 'PHASE_SINCE') && !query.rootsOnly) {
        throw badInput(`Only roots can be ordered by ${order.field}: set rootsOnly.`)
      }
      return connect(args, {
        cursor: CURSORS[order.field],
        position: (row: ObjectRow) => positionOf(row, order),
        load: (window) => findObjects(pool, query, kinds.finishedRule, order, window),
        count: () => countObjects(pool, query, kinds.finishedRule),
      })
    },
  }),
}))
