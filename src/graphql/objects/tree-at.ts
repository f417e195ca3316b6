import { type ObjectState, type TreeAt, treeAt } from '../../log/tree-at.ts'
import { loadTreeProject } from '../../store/loaders/phase-changes.ts'
import { canReadTree } from '../auth/worker-access.ts'
import { builder } from '../schema/builder.ts'
import { ObjectKindEnum, PhaseEnum } from '../schema/enums.ts'
import { tellExpired } from '../schema/failures.ts'
import { isUuid } from '../schema/ids.ts'

interface TreeSnapshotValue extends TreeAt {
  readonly rootId: string
}

const ObjectStateRef = builder.objectRef<ObjectState>('ObjectState').implement({
  fields: (t) => ({
    objectId: t.exposeID('objectId'),
    parentId: t.exposeID('parentId', { nullable: true }),
    kind: t.expose('kind', { type: ObjectKindEnum }),
    name: t.exposeString('name'),
    phase: t.expose('phase', { type: PhaseEnum }),
    phaseSince: t.expose('phaseSince', { type: 'DateTime' }),
    revision: t.exposeInt('revision'),
  }),
})

const TreeSnapshotRef = builder.objectRef<TreeSnapshotValue>('TreeSnapshot').implement({
  fields: (t) => ({
    rootId: t.exposeID('rootId'),
    sequence: t.expose('sequence', { type: 'Sequence' }),
    objects: t.field({
      type: [ObjectStateRef],
      complexity: { field: 1, multiplier: 1_000 },
      resolve: ({ objects }) => [...objects],
    }),
  }),
})

builder.queryField('treeAt', (t) =>
  t.field({
    type: TreeSnapshotRef,
    nullable: true,
    description:
      'The phases of a tree as they were at a sequence: plain values, no nodes, so that no client cache takes them for the present.',
    args: { rootId: t.arg.id({ required: true }), sequence: t.arg({ type: 'Sequence', required: true }) },
    resolve: async (_, { rootId, sequence: place }, { pool, viewer, log }) => {
      // The tree may be gone: what it belonged to stands in the log.
      const project = isUuid(rootId) && canReadTree(viewer, rootId) ? await loadTreeProject(pool, rootId) : null
      if (project === null || (viewer.projects && !viewer.projects.includes(project))) return null
      return await tellExpired(log, async () => {
        const tree = await treeAt(pool, rootId, place.sequence)
        // A bare number means the log as it is.
        if (place.mark !== null) await log.checkWindow({ after: place })
        return { rootId, ...tree }
      })
    },
  }),
)
