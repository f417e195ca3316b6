import { canRead } from '../../core/can-read.ts'
import { RIGHTS } from '../../core/rights.ts'
import { diffStates, type ObjectDifference } from '../../log/diff-states.ts'
import { treeAt } from '../../log/tree-at.ts'
import { timeAt } from '../../log/tree-time.ts'
import { loadTreePlace } from '../../store/loaders/phase-changes.ts'
import { objectOf } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { reportExpired } from '../schema/failures.ts'
import { isUuid } from '../schema/ids.ts'
import { badInput } from '../schema/limits.ts'
import { PhaseChangeRef, TreeDiffRef, TreeObjectRef } from '../schema/refs.ts'
import { DifferenceKind } from './json-difference.ts'
import { creationAfter } from './tree-creation.ts'
import { cursorOfMoment } from './tree-moment.ts'

/** Objects that one answer names. */
const MAX_OBJECTS = 1_000

const ObjectDifferenceRef = builder.objectRef<ObjectDifference>('ObjectDifference').implement({
  description: 'An object that was added to a tree, removed from it, or has changed its phase in between.',
  fields: (t) => ({
    change: t.expose('change', {
      type: DifferenceKind,
      description: 'CHANGED: it has moved in between, also if it is in the same phase again.',
    }),
    objectId: t.exposeID('objectId', { description: 'Id of the object.' }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object as it is now; null if it is deleted.',
      resolve: objectOf,
    }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Kind of the object.' }),
    name: t.exposeString('name', { description: 'Name of the object.' }),
    path: t.exposeString('path', { description: 'Names from the root down to the object, divided by `/`.' }),
    before: t.expose('before', {
      type: PhaseEnum,
      nullable: true,
      description: 'Phase at the earlier place; null if it was not there.',
    }),
    after: t.expose('after', {
      type: PhaseEnum,
      nullable: true,
      description: 'Phase at the later place; null if it was not there any more.',
    }),
  }),
})

TreeDiffRef.implement({
  description: 'The changes in a tree between two cursors of the log.',
  fields: (t) => ({
    rootId: t.exposeID('rootId', { description: 'Id of the root of the tree.' }),
    from: t.expose('from', { type: 'Sequence', description: 'Sequence of the earlier place.' }),
    to: t.expose('to', { type: 'Sequence', description: 'Sequence of the later place.' }),
    fromTime: t.expose('fromTime', { type: 'DateTime', description: 'Time of the earlier place.' }),
    toTime: t.expose('toTime', { type: 'DateTime', description: 'Time of the later place.' }),
    creation: t.field({
      type: PhaseChangeRef,
      nullable: true,
      description:
        'The creation of the tree, if it did not exist yet at the earlier place: all its objects are ADDED then. Null if it existed, or the log does not hold its creation.',
      resolve: ({ rootId, from }, _, context) => creationAfter(context, { rootId, sequence: from }),
    }),
    objects: t.field({
      type: [ObjectDifferenceRef],
      description: `Objects that differ, in the order of their creation, at most ${MAX_OBJECTS.toLocaleString('en')}.`,
      complexity: { field: 1, multiplier: 100 },
      resolve: ({ objects }) => objects.slice(0, MAX_OBJECTS),
    }),
    objectCount: t.int({ description: 'How many objects differ.', resolve: ({ objects }) => objects.length }),
  }),
})

builder.queryField('treeDiff', (t) =>
  t.field({
    right: RIGHTS.readObjects,
    type: TreeDiffRef,
    nullable: true,
    description:
      'The changes in a tree between two cursors of the log, or two times. Null if the log has no such tree that the viewer may read.',
    args: {
      rootId: t.arg.id({ required: true, description: 'Id of the root of the tree, which may be deleted since.' }),
      from: t.arg({
        type: 'Sequence',
        description:
          'Sequence or cursor of the earlier place; one that the log does not hold ends in the error CURSOR_EXPIRED. Left out or null: `fromTime` says when.',
      }),
      fromTime: t.arg({
        type: 'DateTime',
        description:
          'Time of the earlier place; one that the log does not reach back to ends in the error CURSOR_EXPIRED. Left out or null: `from` says when.',
      }),
      to: t.arg({
        type: 'Sequence',
        description: 'Sequence or cursor of the later place. Left out or null: `toTime` says when.',
      }),
      toTime: t.arg({
        type: 'DateTime',
        description: 'Time of the later place. Left out or null: `to` says when, or without it, now.',
      }),
    },
    resolve: async (_, { rootId, from, fromTime, to, toTime }, context) => {
      const { pool, viewer, log, kinds, system } = context
      await log.caughtUp()
      const place = isUuid(rootId) ? await loadTreePlace(pool, rootId) : null
      if (!place || !canRead(viewer, place)) return null
      return await reportExpired(log, async () => {
        const start = await cursorOfMoment(context, rootId, { sequence: from, time: fromTime }, 'from or fromTime')
        const later = to == null && toTime == null ? system.now() : toTime
        const end = await cursorOfMoment(context, rootId, { sequence: to, time: later }, 'to or toTime')
        if (end.sequence < start.sequence) throw badInput('The later place is before the earlier one: swap them.')
        const [before, after] = await Promise.all(
          [start, end].map(({ sequence }) => treeAt(pool, { rootId, sequence }, kinds.secondaryMachines)),
        )
        for (const cursor of [start, end]) if (cursor.mark !== null) await log.checkWindow({ after: cursor })
        return {
          rootId,
          from: start.sequence,
          to: end.sequence,
          fromTime: fromTime ?? (await timeAt(pool, start.sequence)),
          toTime: later ?? (await timeAt(pool, end.sequence)),
          objects: diffStates(before?.objects ?? [], after?.objects ?? []),
        }
      })
    },
  }),
)
