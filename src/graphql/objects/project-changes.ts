import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import { type ChangedTree, changedTrees, MOST_CHANGES } from '../../log/changed-trees.ts'
import { loadPhaseChanges } from '../../store/loaders/phase-changes.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { reportExpired } from '../schema/failures.ts'
import { badInput } from '../schema/limits.ts'
import { PhaseChangeRef, ProjectRef, TreeObjectRef } from '../schema/refs.ts'

/** Trees that one answer names. */
const MAX_TREES = 1_000
const TOO_MANY = `The log has more than ${MOST_CHANGES.toLocaleString('en')} changes since then: choose a later time.`

interface ShownTree extends Omit<ChangedTree, 'creation'> {
  readonly creation: PhaseChangeRecord | null
}
interface ProjectChanges {
  readonly fromTime: Date
  readonly toTime: Date
  readonly trees: readonly ShownTree[]
  readonly treeCount: number
}

const ChangedTreeRef = builder.objectRef<ShownTree>('ChangedTree').implement({
  description: 'A tree whose objects differ between two times. `treeDiff` has them one by one.',
  fields: (t) => ({
    rootId: t.exposeID('rootId', { description: 'Id of its root.' }),
    name: t.exposeString('name', { description: 'Name of its root.' }),
    root: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'Its root as it is now; null if it is deleted.',
      resolve: ({ rootId }, _, context) => objectLoader(context).load(rootId),
    }),
    creation: t.field({
      type: PhaseChangeRef,
      nullable: true,
      description: 'The creation of the tree, if it did not exist at the earlier time. Otherwise null.',
      resolve: ({ creation }) => creation,
    }),
    changedAt: t.expose('changedAt', { type: 'DateTime', description: 'When an object of it has moved last.' }),
    addedCount: t.int({ description: 'Objects that were added.', resolve: ({ added }) => added }),
    removedCount: t.int({ description: 'Objects that were removed.', resolve: ({ removed }) => removed }),
    changedCount: t.int({
      description: 'Objects that have moved, also if they are in the same phase again.',
      resolve: ({ changed }) => changed,
    }),
    failedCount: t.int({
      description: 'The objects among these that were in a failed phase at the later time.',
      resolve: ({ failed }) => failed,
    }),
  }),
})

const ProjectChangesRef = builder.objectRef<ProjectChanges>('ProjectChanges').implement({
  description: 'The changes in the trees of a project between two times.',
  fields: (t) => ({
    fromTime: t.expose('fromTime', { type: 'DateTime', description: 'The earlier time.' }),
    toTime: t.expose('toTime', { type: 'DateTime', description: 'The later time.' }),
    trees: t.field({
      type: [ChangedTreeRef],
      description: `Trees that differ, each once, those that changed last first, at most ${MAX_TREES.toLocaleString('en')}.`,
      complexity: { field: 1, multiplier: 100 },
      resolve: ({ trees }) => [...trees],
    }),
    treeCount: t.exposeInt('treeCount', { description: 'How many trees differ.' }),
  }),
})

builder.objectFields(ProjectRef, (t) => ({
  treeChanges: t.field({
    type: ProjectChangesRef,
    nullable: true,
    description: 'The changes in its trees between two times. Null only together with an entry in `errors`.',
    // Each reads a part of the log of its own: one operation takes about ten.
    complexity: { field: 20_000, multiplier: 1 },
    args: {
      fromTime: t.arg({
        type: 'DateTime',
        required: true,
        description:
          'The earlier time; one that the log does not reach back to ends in the error CURSOR_EXPIRED, and one with more than ' +
          `${MOST_CHANGES.toLocaleString('en')} changes of the log since then in BAD_USER_INPUT.`,
      }),
      toTime: t.arg({ type: 'DateTime', description: 'The later time. Left out or null: now.' }),
    },
    resolve: async ({ id: projectId }, { fromTime, toTime }, { pool, viewer, log, kinds, system }) => {
      const until = toTime ?? system.now()
      if (until < fromTime) throw badInput('The later time is before the earlier one: swap them.')
      return await reportExpired(log, async () => {
        await log.caughtUp()
        const window = { projectId, rootId: viewer.rootId ?? null, since: fromTime, until }
        const words = { failed: kinds.failedPhases, secondaryMachines: kinds.secondaryMachines }
        const found = await changedTrees(pool, window, words)
        if (!found) throw badInput(TOO_MANY)
        const trees = found.slice(0, MAX_TREES)
        const created = trees.flatMap(({ creation }) => creation ?? [])
        const creations = new Map((await loadPhaseChanges(pool, created, null)).map((one) => [one.rootId, one]))
        return {
          fromTime,
          toTime: until,
          treeCount: found.length,
          trees: trees.map((tree) => ({ ...tree, creation: creations.get(tree.rootId) ?? null })),
        }
      })
    },
  }),
}))
