import { canRead } from '../../core/can-read.ts'
import { RIGHTS } from '../../core/rights.ts'
import { type ObjectState, type TreeAt, treeAt } from '../../log/tree-at.ts'
import { loadTreePlace } from '../../store/loaders/phase-changes.ts'
import { builder } from '../schema/builder.ts'
import { ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { reportExpired } from '../schema/failures.ts'
import { isUuid } from '../schema/ids.ts'
import { PhaseChangeRef } from '../schema/refs.ts'
import { creationAfter } from './tree-creation.ts'
import { cursorOfMoment } from './tree-moment.ts'

interface TreeSnapshotValue extends TreeAt {
  readonly rootId: string
}

const ObjectStateRef = builder.objectRef<ObjectState>('ObjectState').implement({
  description: 'An object as it was at a place of the log. It may be deleted since.',
  fields: (t) => ({
    objectId: t.exposeID('objectId', { description: 'Id of the object.' }),
    parentId: t.exposeID('parentId', { nullable: true, description: 'Id of its parent; null for the root.' }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Kind of the object.' }),
    name: t.exposeString('name', { description: 'Name of the object.' }),
    phase: t.expose('phase', { type: PhaseEnum, description: 'Phase that it was in.' }),
    phaseSince: t.expose('phaseSince', { type: 'DateTime', description: 'When it had entered that phase.' }),
    revision: t.exposeInt('revision', { description: 'Revision of its last phase change until then.' }),
  }),
})

const TreeSnapshotRef = builder.objectRef<TreeSnapshotValue>('TreeSnapshot').implement({
  description: 'A tree as it was at a place of the log.',
  fields: (t) => ({
    rootId: t.exposeID('rootId', { description: 'Id of the root of the tree.' }),
    sequence: t.expose('sequence', { type: 'Sequence', description: 'Sequence up to which phase changes count.' }),
    creation: t.field({
      type: PhaseChangeRef,
      nullable: true,
      description:
        'The creation of the tree, if it did not exist yet. Null if it existed, or the log does not hold its creation.',
      resolve: ({ rootId, sequence }, _, context) => creationAfter(context, { rootId, sequence }),
    }),
    objects: t.field({
      type: [ObjectStateRef],
      description: 'Objects that the tree had; empty if it did not exist.',
      complexity: { field: 1, multiplier: 1_000 },
      resolve: ({ objects }) => [...objects],
    }),
  }),
})

builder.queryField('treeAt', (t) =>
  t.field({
    right: RIGHTS.readObjects,
    type: TreeSnapshotRef,
    nullable: true,
    description:
      'Phases of a tree as they were at a place of the log, as plain values, so that no client cache takes them for the present. Null if the log has no such tree that the viewer may read.',
    args: {
      rootId: t.arg.id({
        required: true,

        description: 'Id of the root of the tree, which may be deleted since.',
      }),
      sequence: t.arg({
        type: 'Sequence',
        description:
          'Sequence or cursor; one that the log does not hold ends in the error CURSOR_EXPIRED. Left out or null: `time` says when.',
      }),
      time: t.arg({
        type: 'DateTime',
        description:
          'Time; one that the log does not reach back to ends in the error CURSOR_EXPIRED. Left out or null: `sequence` says when.',
      }),
    },
    resolve: async (_, { rootId, sequence, time }, context) => {
      const { pool, viewer, log, kinds } = context
      await log.caughtUp()
      // The tree may be deleted, so its project is read from the log.
      const place = isUuid(rootId) ? await loadTreePlace(pool, rootId) : null
      if (!place || !canRead(viewer, place)) return null
      return await reportExpired(log, async () => {
        const moment = await cursorOfMoment(context, rootId, { sequence, time }, 'sequence or time')
        const tree = await treeAt(pool, { rootId, sequence: moment.sequence }, kinds.secondaryMachines)
        // A bare number has no mark to check; it means the log as it is.
        if (moment.mark !== null) await log.checkWindow({ after: moment })
        return { rootId, ...tree }
      })
    },
  }),
)
