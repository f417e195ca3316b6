import { NEW_WORK, type Node, type Slice, WORK_STATE } from '../core/tree.ts'

/**
 * Sets the time at which the rules of a root run by themselves; null: they do not. The work row of the root has it, and no agent
 * ever claims that row. A clock that stands is done, so that it goes with its root.
 * @param type of the work row: the cause of the clock
 */
export function setClock(root: Node, slice: Slice, type: string, dueAt: Date | null): void {
  const { work, row } = root
  if ((work?.dueAt?.getTime() ?? null) === (dueAt?.getTime() ?? null)) return
  if (work && !dueAt) return slice.setWork(root, { dueAt, state: WORK_STATE.DONE, doneAt: slice.now })
  if (work) return slice.setWork(root, { dueAt, state: WORK_STATE.CLAIMED, doneAt: null })
  const clock = { type, target: null, action: 'RUN', state: WORK_STATE.CLAIMED, config: null } as const
  const own = { handedConfig: null, handed: false, jobId: row.jobId, triggeredAt: slice.now, dueAt }
  slice.setWork(root, { ...NEW_WORK, ...clock, ...own })
}
