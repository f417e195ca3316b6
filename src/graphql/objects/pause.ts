import type { ObjectRow } from '../../core/tree.ts'
import { WORK_STATE } from '../../core/tree.ts'
import type { Pause } from '../../store/pauses.ts'
import type { BlockerValue } from '../family.ts'
import { pauseLoader, workLoader } from '../loaders.ts'
import type { ResolverContext } from '../resolver-context.ts'
import { builder } from '../schema/builder.ts'
import { BlockerRef, TreeObjectRef } from '../schema/refs.ts'

/** The pause of a tree, and the blocker that names it. */

export const PauseRef = builder.objectRef<Pause>('Pause').implement({
  description: 'A pause of a tree or a limit.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it began.' }),
    by: t.exposeString('by', { description: 'Name of the principal that has paused it.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why; null: no reason was given.' }),
  }),
})

interface PausedBlocker extends BlockerValue {
  readonly pause: Pause
}
builder.objectRef<PausedBlocker>('PausedBlocker').implement({
  description: 'The tree is paused: nothing new is handed to agents, and no job begins, until it is resumed.',
  interfaces: [BlockerRef],
  fields: (t) => ({ pause: t.field({ type: PauseRef, description: 'The pause.', resolve: ({ pause }) => pause }) }),
})

builder.interfaceField(TreeObjectRef, 'pause', (t) =>
  t.field({
    type: PauseRef,
    nullable: true,
    description: 'The pause of the tree; null: it is not paused. A schedule has a phase for it instead.',
    resolve: ({ rootId }, _, context) => pauseLoader(context).load(rootId),
  }),
)

/** Puts the pause before the other blockers: on the root always, elsewhere unless an agent is at work or all is done. */
export async function withPause(
  context: ResolverContext,
  row: ObjectRow,
  blockers: readonly BlockerValue[],
): Promise<readonly BlockerValue[]> {
  const pause = await pauseLoader(context).load(row.rootId)
  if (!pause || !(await isHeldBack(context, row, blockers))) return blockers
  const { by, at, reason } = pause
  const message = `Its tree is paused by ${by} since ${at.toISOString()}${reason === null ? '.' : `: ${reason}`}`
  const blocker: PausedBlocker = { __typename: 'PausedBlocker', reason: 'PAUSED', message, pause }
  return [blocker, ...blockers]
}

async function isHeldBack(
  context: ResolverContext,
  row: ObjectRow,
  blockers: readonly BlockerValue[],
): Promise<boolean> {
  if (row.parentId === null || blockers.length > 0) return true
  if (context.kinds.isAtRest(row)) return false
  return (await workLoader(context).load(row.id))?.state !== WORK_STATE.CLAIMED
}
